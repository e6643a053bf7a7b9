// Makes one connection to every peer, and lets no stranger in.
#pragma once
#include <cstddef>
#include <vector>

#include "auth/stream.h"
#include "base/time.h"
#include "transport/fabric.h"

namespace rota::transport::tcp {

// Calls every higher rank until it answers, and is called by every lower one on `listener`; rank 0
// needs none, and may give -1. Index of the result = peer; the own entry is empty.
// Throws Error kTimeout at `deadline`, naming the ranks that are absent, and what was in the way;
// kPeerLost where a member does not take the call, kSystem.
std::vector<auth::Stream> connect_all(std::size_t rank, const CallTerms& terms, int listener,
                                      base::TimePoint deadline);

}  // namespace rota::transport::tcp

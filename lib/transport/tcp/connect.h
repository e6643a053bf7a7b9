// Makes one connection to every peer, and admits no process outside the group.
#pragma once
#include <cstddef>
#include <vector>

#include "auth/stream.h"
#include "base/time.h"
#include "transport/fabric.h"

namespace rota::transport::tcp {

// Connects to every higher rank, retrying until that rank answers, and accepts a connection from
// every lower rank on `listener`. Rank 0 needs no listener, and may pass -1. The index of the
// result is the peer; this rank's own entry is empty. Throws Error kTimeout at `deadline`, naming
// the absent ranks and the obstacles; kPeerLost if a member refuses the connection; kSystem. Calls
// each rank at least once, even if the deadline has passed.
std::vector<auth::Stream> connect_all(std::size_t rank, const CallTerms& terms, int listener,
                                      base::TimePoint deadline);

}  // namespace rota::transport::tcp

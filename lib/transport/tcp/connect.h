// Makes one connection to every peer, and lets no stranger in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "auth/key.h"
#include "auth/stream.h"
#include "base/time.h"

namespace rota::transport::tcp {

struct ConnectOptions {
  std::size_t rank = 0;
  std::vector<std::string> addresses;   // Index = rank.
  auth::Key key;                        // Held by the job's ranks alone.
  bool encrypts = false;                // All of them do, or none.
  std::uint64_t incarnation = 0;        // Of the job, and
  std::uint64_t epoch = 0;              // within it.
  std::function<void()> look_around{};  // Called now and then while waiting; may throw to end it.
  // Called once a peer has been waited for longer than others.
  std::function<void(std::size_t peer)> report_wait{};
};

// Calls every higher rank until it answers, and is called by every lower one on `listener`; rank 0
// needs none, and may give -1. Index of the result = peer; the own entry is empty.
// Throws Error kTimeout at `deadline`, naming the ranks that are absent, and what was in the way;
// kPeerLost where a member does not take the call, kSystem.
std::vector<auth::Stream> connect_all(const ConnectOptions& options, int listener,
                                      base::TimePoint deadline);

}  // namespace rota::transport::tcp

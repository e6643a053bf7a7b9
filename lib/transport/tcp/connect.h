// Makes one connection to every peer, and lets no stranger in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "auth/key.h"
#include "base/time.h"
#include "os/fd.h"

namespace rota::transport::tcp {

struct ConnectOptions {
  std::size_t rank = 0;
  std::vector<std::string> addresses;  // Index = rank.
  auth::Key key;                       // Held by the job's ranks alone.
  std::uint64_t epoch = 0;
  std::function<void()> look_around;  // Called now and then while waiting; may throw to end it.
};

// Calls every higher rank, and is called by every lower one on `listener`; rank 0 needs none, and
// may give -1. A connection that does not prove within 2 s to be a member's is closed, and the wait
// goes on. Index of the result = peer; the own entry is empty.
// Throws Error kTimeout at `deadline`, naming the ranks that are absent; kPeerLost, kSystem.
std::vector<os::Fd> connect_all(const ConnectOptions& options, int listener,
                                base::TimePoint deadline);

}  // namespace rota::transport::tcp

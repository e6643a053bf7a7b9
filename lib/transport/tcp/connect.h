// Makes one connection to every peer, and lets no stranger in.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/fd.h"

namespace rota::transport::tcp {

struct ConnectOptions {
  std::size_t rank = 0;
  std::vector<std::string> addresses;  // Index = rank.
  std::array<std::byte, 16> nonce{};   // Known to the job's ranks alone.
  std::uint64_t epoch = 0;
  std::function<void()> look_around;  // Called now and then while waiting; may throw to end it.
};

// Calls every lower rank and is called by every higher one on `listener`. A connection whose first
// bytes are not a member's, or do not come within 2 s, is closed without a word, and the wait goes
// on. Index of the result = peer; the own entry is empty.
// Throws Error kTimeout at `deadline`, naming the ranks that are absent; kPeerLost, kSystem.
std::vector<os::Fd> connect_all(const ConnectOptions& options, int listener,
                                base::TimePoint deadline);

}  // namespace rota::transport::tcp

// How the ranks of a group call each other over a network, whichever of them calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "auth/key.h"

namespace rota::transport {

struct CallTerms {
  std::vector<std::string> addresses;   // Index = rank.
  auth::Key key;                        // Held by the job's ranks alone.
  bool encrypts = false;                // All of them do, or none.
  std::uint64_t incarnation = 0;        // Of the job, and
  std::uint64_t epoch = 0;              // within it.
  std::function<void()> look_around{};  // Called now and then while waiting; may throw to end it.
  // Called once a peer has been waited for longer than others.
  std::function<void(std::size_t peer)> report_wait{};
};

}  // namespace rota::transport

// Shares memory between ranks of one machine that no rotarun has started. The first rank of a
// shared-memory domain makes the arenas, and hands them over at a local name.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/fd.h"

namespace rota {

// Returns a local name with 64 random bits, such as "@rota-0-89abcdef01234567:0".
std::string random_local_name();

// Where this rank hands over memory, if it is the first of its domain. Only processes of the same
// user can connect there.
class LocalMeeting {
 public:
  // Listens at a random local name. Throws Error kSystem.
  LocalMeeting();

  const std::string& name() const noexcept { return name_; }

  // Returns the arenas of the ranks in `local_peers`, in their order: one for each. `rank` is this
  // rank's number, and `first_name` the name at which the first of them listens. While the call
  // waits, it calls `look_around` at intervals; a throw ends the wait. Throws Error kTimeout at
  // `deadline`, kPeerLost, kNoMemory, kSystem.
  std::vector<os::Fd> share_arenas(const std::vector<std::size_t>& local_peers, std::size_t rank,
                                   const std::string& first_name,
                                   const std::function<void()>& look_around,
                                   base::TimePoint deadline);

 private:
  std::string name_;
  os::Fd listener_;
};

}  // namespace rota

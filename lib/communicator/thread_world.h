// A world whose ranks are threads of this process.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <rota/communicator.h>

#include "base/islands.h"
#include "communicator/membership.h"
#include "transport/transport.h"

namespace rota {

struct ThreadWorldOptions {
  std::size_t world_size = 1;
  std::size_t arena_bytes = std::size_t{64} << 20;  // Of each rank; sparse. 0: the most.
  CommunicatorOptions communicator;                 // Its deadline is 60 s where it says none.
};

struct ThreadWorld {
  // Over shared memory. Index = rank. Each is used by one thread at a time, as any Communicator is.
  // Throws Error kSystem, kNoMemory, kInvalidArgument.
  static std::vector<Communicator> make(const ThreadWorldOptions& options);

  // Over transports that are connected with each other, as `islands` says. `memberships`: index =
  // rank; without them the ranks are a job of their own.
  static std::vector<Communicator> over(
      const base::Islands& islands, std::vector<std::unique_ptr<transport::Transport>> transports,
      const CommunicatorOptions& options,
      std::vector<std::shared_ptr<Membership>> memberships = {});
};

}  // namespace rota

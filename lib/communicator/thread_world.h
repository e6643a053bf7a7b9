// A world whose ranks are threads of this process.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <rota/communicator.h>

#include "base/domains.h"
#include "collectives/running.h"
#include "communicator/membership.h"
#include "transport/transport.h"

namespace rota {

struct ThreadWorldOptions {
  std::size_t world_size = 1;
  std::size_t arena_bytes = std::size_t{64} << 20;  // Per rank; sparse. 0: the maximum.
  CommunicatorOptions communicator;                 // If it has no deadline: 60 s.
};

struct ThreadWorld {
  // Makes communicators over shared memory. Index = rank. Only one thread at a time may use each
  // Communicator. Throws Error kSystem, kNoMemory, kInvalidArgument.
  static std::vector<Communicator> make(const ThreadWorldOptions& options);

  // Makes communicators over transports that are already connected with each other. `domains`:
  // which ranks share memory over these transports. `memberships`: index = rank; if empty, these
  // ranks form a separate job. `methods`: index = rank; a further method of each to run operations.
  static std::vector<Communicator> over(
      const base::Domains& domains, std::vector<std::unique_ptr<transport::Transport>> transports,
      const CommunicatorOptions& options, std::vector<std::shared_ptr<Membership>> memberships = {},
      std::vector<std::unique_ptr<collectives::Method>> methods = {});
};

}  // namespace rota

// Ranks that are threads of a test: over memory where they share it, over TCP elsewhere.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "base/islands.h"
#include "base/transports.h"
#include "communicator/thread_world.h"
#include "os/shared_memory.h"
#include "testing/tcp_world.h"
#include "transport/mixed_transport.h"

namespace rota::testing {

// Index = rank. Ranks that are alone on their island have TCP alone.
inline std::vector<std::unique_ptr<transport::Transport>> mixed_transports(
    const base::Islands& islands) {
  std::map<std::uint32_t, std::shared_ptr<transport::shm::Domain>> domains;
  std::vector<std::unique_ptr<transport::Transport>> transports;
  auto streams = connect_ranks(islands.size());
  for (std::size_t rank = 0; rank < islands.size(); ++rank) {
    const auto mates = base::island_of(islands, rank);
    if (mates.size() == 1) {
      transports.push_back(std::make_unique<transport::tcp::Transport>(
          std::move(streams[rank]), base::transport_between(islands)));
      continue;
    }
    auto& domain = domains[islands[rank]];
    if (!domain) {
      std::vector<os::Fd> arenas;
      arenas.reserve(mates.size());
      for (const std::size_t mate : mates) {
        arenas.push_back(
            os::make_shared_memory("test-" + std::to_string(mate), std::size_t{64} << 20));
      }
      domain = std::make_shared<transport::shm::Domain>(std::move(arenas));
    }
    const std::size_t place = base::place_among(mates, rank);
    transports.push_back(std::make_unique<transport::MixedTransport>(
        std::make_unique<transport::shm::Transport>(domain, place, mates), mates,
        std::move(streams[rank])));
  }
  return transports;
}

// Two ranks an island, and the last one alone where they are odd.
inline std::vector<Communicator> mixed_world_of(std::size_t world_size,
                                                const CommunicatorOptions& options) {
  base::Islands islands;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) islands.push_back(rank / 2);
  return ThreadWorld::over(islands, mixed_transports(islands), options);
}

}  // namespace rota::testing

// Ranks that are threads of a test. They use shared memory inside a domain, and TCP between
// domains.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "base/domains.h"
#include "base/transports.h"
#include "communicator/thread_world.h"
#include "os/shared_mapping.h"
#include "testing/tcp_world.h"
#include "transport/mixed_transport.h"

namespace rota::testing {

// Returns the transports of all ranks. Index = rank. A rank that is alone in its domain has only
// TCP.
inline std::vector<std::unique_ptr<transport::Transport>> mixed_transports(
    const base::Domains& domains) {
  std::map<std::uint32_t, std::shared_ptr<transport::shm::Domain>> mapped;
  std::vector<std::unique_ptr<transport::Transport>> transports;
  auto streams = connect_ranks(domains.size());
  for (std::size_t rank = 0; rank < domains.size(); ++rank) {
    const auto local_peers = base::domain_of(domains, rank);
    if (local_peers.size() == 1) {
      transports.push_back(std::make_unique<transport::tcp::Transport>(
          std::move(streams[rank]), base::transport_between(domains)));
      continue;
    }
    auto& domain = mapped[domains[rank]];
    if (!domain) {
      std::vector<os::Fd> arenas;
      arenas.reserve(local_peers.size());
      for (const std::size_t local_peer : local_peers) {
        arenas.push_back(
            os::make_shared_memory("test-" + std::to_string(local_peer), std::size_t{64} << 20));
      }
      domain = std::make_shared<transport::shm::Domain>(std::move(arenas));
    }
    const std::size_t place = base::index_in(local_peers, rank);
    transports.push_back(std::make_unique<transport::MixedTransport>(
        std::make_unique<transport::shm::Transport>(domain, place, local_peers), local_peers,
        std::move(streams[rank])));
  }
  return transports;
}

// Returns a world with two ranks per domain. An odd last rank is alone in its domain.
inline std::vector<Communicator> mixed_world_of(std::size_t world_size,
                                                const CommunicatorOptions& options) {
  base::Domains domains;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) domains.push_back(rank / 2);
  return ThreadWorld::over(domains, mixed_transports(domains), options);
}

}  // namespace rota::testing

// Ranks that are threads of a test, connected over TCP.
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "base/transports.h"
#include "communicator/thread_world.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "transport/tcp/transport.h"

namespace rota::testing {

// How long a wait lasts without a wake-up. If a wait ends within half of this time, a wake-up ended
// it.
inline constexpr std::chrono::seconds kVeryLong{10};

// Returns the two ends of one connection.
inline std::pair<os::Fd, os::Fd> connected_sockets() {
  const os::Listener listener = os::listen_on_loopback();
  os::Fd caller = os::start_connect(os::parse_address(listener.address)).socket;
  os::PollSet polls;
  polls.add(listener.socket.get(), true, false);
  polls.wait(base::Clock::now() + std::chrono::seconds(10));
  return {std::move(caller), os::accept_connection(listener.socket.get()).socket};
}

// Returns connections between all ranks, as [rank][peer].
inline std::vector<std::vector<auth::Stream>> connect_ranks(std::size_t world_size) {
  std::vector<std::vector<auth::Stream>> sockets(world_size);
  for (auto& row : sockets) row.resize(world_size);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    for (std::size_t peer = 0; peer < rank; ++peer) {
      std::tie(sockets[rank][peer], sockets[peer][rank]) = connected_sockets();
    }
  }
  return sockets;
}

// Returns the communicators of a world. Index = rank. Each communicator is used by one thread at a
// time.
inline std::vector<Communicator> tcp_world_of(std::size_t world_size,
                                              const CommunicatorOptions& options) {
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (auto& row : connect_ranks(world_size)) {
    transports.push_back(std::make_unique<transport::tcp::Transport>(std::move(row)));
  }
  return ThreadWorld::over(base::domains_over("tcp", world_size), std::move(transports), options);
}

}  // namespace rota::testing

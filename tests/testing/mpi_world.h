// Ranks that are threads of a test, connected over a fake MPI.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "base/domains.h"
#include "communicator/thread_world.h"
#include "testing/fake_mpi.h"
#include "transport/mpi/transport.h"

namespace rota::testing {

// Runs `body` with each rank at the same time, each on a thread that may call MPI. `body` must not
// throw.
template <class Body>
void on_mpi_threads(std::size_t world_size, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(world_size);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([rank, &body] {
      be_main_thread(true);
      body(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Returns the transports of all ranks of `fake`. Index = rank.
inline std::vector<std::unique_ptr<transport::Transport>> mpi_transports(FakeMpi& fake,
                                                                         std::size_t world_size) {
  std::vector<std::unique_ptr<transport::Transport>> transports(world_size);
  on_mpi_threads(world_size, [&](std::size_t rank) {
    transports[rank] = transport::mpi::transport_of_all(std::make_shared<transport::mpi::World>(
        FakeMpi::calls(), fake.comm(rank), base::Clock::now() + std::chrono::seconds(20)));
  });
  return transports;
}

// Returns the communicators of a world that has no coordinator. Index = rank.
inline std::vector<Communicator> mpi_world_of(FakeMpi& fake, std::size_t world_size,
                                              const CommunicatorOptions& options) {
  return ThreadWorld::over(base::each_alone(world_size), mpi_transports(fake, world_size), options);
}

}  // namespace rota::testing

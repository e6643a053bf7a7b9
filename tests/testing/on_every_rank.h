// Runs code on ranks that are threads of a test.
#pragma once
#include <thread>
#include <vector>

#include <rota/communicator.h>

namespace rota::testing {

// Runs `body` on all ranks at the same time, and returns when all have ended. `body` must not
// throw.
template <class Body>
void on_every_rank(std::vector<Communicator>& world, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(world.size());
  for (Communicator& communicator : world) {
    threads.emplace_back([&communicator, &body] { body(communicator); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace rota::testing

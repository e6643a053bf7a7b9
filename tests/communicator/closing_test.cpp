// What a rank that closes its communicator owes a thread that waits for one of its requests.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "communicator/giving_up.h"
#include "testing/error_of.h"

namespace rota {
namespace {

using std::chrono::seconds;
using testing::error_of;
using testing::world_in_memory;

// Who waits for a request may be another thread than who has the communicator.
TEST(Closing, EndsTheWaitOfAnotherThread) {
  for (int round = 0; round < 100; ++round) {
    auto world = world_in_memory(2, seconds(20));
    std::vector<float> values(10);
    Request request = world[0].receive_async(values, 1);
    std::atomic<bool> waits{false};
    std::thread waiter([&] {
      waits = true;
      const auto error = error_of([&] { request.wait(); });
      EXPECT_TRUE(error && error->code() == ErrorCode::kClosed);
    });
    while (!waits) std::this_thread::yield();
    for (int spin = 0; spin < round * 1000; ++spin)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    { const Communicator closed = std::move(world[0]); }
    waiter.join();
  }
}

}  // namespace
}  // namespace rota

// Tests what peers do if a rank takes its values back while the peers read them. Method: the test
// makes this race on purpose, so it is not built for ThreadSanitizer. Ranks are threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "communicator/giving_up.h"
#include "testing/error_of.h"
#include "testing/mixed_world.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using std::chrono::seconds;
using testing::all_are;
using testing::error_of;
using testing::floats_of;
using testing::on_every_rank;
using testing::world_in_memory;

// Two ranks on each of two hosts: rank 1 reads rank 0's memory and passes the values to the other
// host.
TEST(TakenBack, GoesToNoOtherHost) {
  constexpr std::size_t kCount = std::size_t{1} << 20;
  for (int trial = 0; trial < 20; ++trial) {
    auto world = testing::mixed_world_of(4, {.deadline = seconds(20)});
    std::atomic<int> ended{0};
    on_every_rank(world, [&](Communicator& comm) {
      const Block block = comm.allocate(kCount * sizeof(float));
      const auto values = floats_of(block);
      comm.barrier();
      const bool is_root = comm.rank() == 0;
      if (is_root) std::ranges::fill(values, 1.0F);
      const auto error = error_of([&] {
        if (!is_root) return comm.broadcast(values, 0);
        const std::uint64_t before = comm.sent_bytes();
        Request request = comm.broadcast_async(values, 0);
        while (comm.sent_bytes() - before < values.size_bytes() && !request.test()) {
        }
        comm.abort("it wants its values back");
        for (std::size_t i = values.size(); i-- > 0;) values[i] = 2;
        request.wait();
      });
      if (!is_root && !error) {
        EXPECT_TRUE(all_are(values, 1)) << "rank " << comm.rank() << ", trial " << trial;
      }
      for (++ended; ended < 4;) std::this_thread::yield();  // No rank leaves before all have ended.
    });
  }
}

// A receive that ends before an earlier receive also checks for an abort before it reports success.
// A large copy may run backwards. So rank 1 finds out where rank 0's copy began, and overwrites the
// values from the other end on.
TEST(TakenBack, IsSeenByAReceiveThatOvertakesAnother) {
  constexpr std::size_t kCount = std::size_t{32} << 20;
  for (int trial = 0; trial < 5 && !::testing::Test::HasFailure(); ++trial) {
    auto world = world_in_memory(3, seconds(20));
    std::vector<float> received(kCount);
    std::atomic<bool> is_sent{false};
    on_every_rank(world, [&](Communicator& comm) {
      if (comm.rank() == 2) return;  // Never sends.
      if (comm.rank() == 1) {
        const Block block = comm.allocate(kCount * sizeof(float));
        const auto values = floats_of(block);
        std::ranges::fill(values, 1.0F);
        Request request = comm.send_async(values, 0);
        is_sent = true;
        const auto has_come = [&](std::size_t i) {
          return std::atomic_ref(received[i]).load(std::memory_order_relaxed) == 1;
        };
        constexpr std::size_t kNearTheFront = kCount / 64;
        while (!has_come(kNearTheFront) && !has_come(kCount - kNearTheFront)) {
        }
        comm.abort("it wants its values back");
        if (has_come(kNearTheFront)) {
          std::fill(values.rbegin(), values.rend(), 2.0F);
        } else {
          std::ranges::fill(values, 2.0F);
        }
        error_of([&] { request.wait(); });
        return;
      }
      while (!is_sent) std::this_thread::yield();
      std::vector<float> never(10);
      Request front = comm.receive_async(never, 2);
      Request behind = comm.receive_async(received, 1);
      EXPECT_TRUE(error_of([&] { behind.wait(); }) || all_are(received, 1)) << "trial " << trial;
      EXPECT_TRUE(error_of([&] { front.wait(); }));
    });
  }
}

}  // namespace
}  // namespace rota

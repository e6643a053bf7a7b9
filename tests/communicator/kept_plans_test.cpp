// Tests a program that never uses a count twice: its communicator drops cached plans from time to
// time, even while calls are under way. Method: ranks are threads over shared memory. Whenever
// plans may be dropped, calls are under way that end only after a later call of the same rank.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "communicator/thread_world.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

// Counts go from 1 to this number, which is more than the number of plans that a communicator
// keeps.
constexpr std::size_t kMostCount = 1400;

std::vector<Communicator> planning_world(std::size_t world_size) {
  ThreadWorldOptions options;
  options.world_size = world_size;
  options.communicator.deadline = std::chrono::seconds(10);
  return ThreadWorld::make(options);
}

// Returns a small integer, so that sums are exact.
std::int32_t value_of(std::size_t rank, std::size_t count, std::size_t index) {
  return static_cast<std::int32_t>(rank * 10007 + count * 13 + index % 101);
}

std::vector<std::int32_t> values_of(std::size_t rank, std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, count, i);
  return values;
}

// Runs `body` on every rank. An Error on a rank's thread fails the test but does not end it.
template <class Body>
void run_on_every_rank(std::vector<Communicator>& world, Body body) {
  testing::on_every_rank(world, [&](Communicator& comm) {
    try {
      body(comm);
    } catch (const Error& error) {
      ADD_FAILURE() << "rank " << comm.rank() << ": " << error.what();
    }
  });
}

// Rank 0 has one receive in flight. Rank 1 sends the values for this receive only after it has
// received what rank 0 sends later.
TEST(KeptPlans, AreDroppedWhileMessagesWaitForLaterOnes) {
  auto world = planning_world(2);
  run_on_every_rank(world, [](Communicator& comm) {
    const std::size_t own = comm.rank();
    const std::size_t peer = 1 - own;
    if (own == 1) {
      for (std::size_t count = 1; count <= kMostCount; ++count) {
        std::vector<std::int32_t> received(count);
        comm.receive(received, peer);
        ASSERT_EQ(received, values_of(peer, count)) << count << " values";
        const auto values = values_of(own, count);
        comm.send(values, peer);
      }
      return;
    }
    std::vector<std::int32_t> received(1);
    Request receiving = comm.receive_async(received, peer);
    for (std::size_t count = 1; count <= kMostCount; ++count) {
      std::vector<std::int32_t> next_received(count + 1);
      Request next;
      if (count < kMostCount) next = comm.receive_async(next_received, peer);
      const auto values = values_of(own, count);
      Request sending = comm.send_async(values, peer);
      receiving.wait();
      ASSERT_EQ(received, values_of(peer, count)) << count << " values";
      sending.wait();
      received = std::move(next_received);
      receiving = std::move(next);
    }
  });
}

// Every rank starts dozens of calls before it waits for the first of them.
TEST(KeptPlans, AreDroppedWhileCollectivesAreQueued) {
  constexpr std::size_t kAtOnce = 50;
  auto world = planning_world(3);
  run_on_every_rank(world, [](Communicator& comm) {
    for (std::size_t first = 1; first < kMostCount; first += kAtOnce) {
      std::vector<std::vector<std::int32_t>> buffers;
      std::vector<Request> requests;
      for (std::size_t count = first; count < first + kAtOnce; ++count) {
        buffers.push_back(values_of(comm.rank(), count));
        requests.push_back(comm.all_reduce_async(buffers.back(), ReduceOp::kSum));
      }
      wait_all(requests);
      for (const auto& buffer : buffers) {
        for (std::size_t i = 0; i < buffer.size(); ++i) {
          std::int32_t sum = 0;
          for (std::size_t rank = 0; rank < comm.world_size(); ++rank) {
            sum += value_of(rank, buffer.size(), i);
          }
          ASSERT_EQ(buffer[i], sum) << buffer.size() << " values, index " << i;
        }
      }
    }
  });
}

}  // namespace
}  // namespace rota

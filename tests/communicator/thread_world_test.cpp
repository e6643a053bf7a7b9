// Communicators whose ranks are threads, over the real shared-memory transport: where a race
// detector sees both ends of every hand-over.
#include "communicator/thread_world.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "testing/every_collective.h"

namespace rota {
namespace {

// Runs `body` on every rank at once and passes on what it threw.
template <class Body>
void on_every_rank(std::vector<Communicator>& world, Body body) {
  std::vector<std::thread> threads;
  for (Communicator& communicator : world) {
    threads.emplace_back([&communicator, &body] { body(communicator); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Small integers held in floats: their sums are exact, so rounding cannot hide a mistake.
float value_of(std::size_t rank, std::size_t index) {
  return static_cast<float>(rank * 3 + index % 7);
}

float sum_of(std::size_t world_size, std::size_t index) {
  float sum = 0;
  for (std::size_t rank = 0; rank < world_size; ++rank) sum += value_of(rank, index);
  return sum;
}

class ThreadWorldTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::vector<Communicator> make_world(const std::string& plan = "ring") {
    ThreadWorldOptions options;
    options.world_size = GetParam();
    options.communicator.plan = plan;
    options.communicator.deadline = std::chrono::seconds(20);
    return ThreadWorld::make(options);
  }
};

TEST_P(ThreadWorldTest, ReducesValuesWhereverTheyLie) {
  for (const char* plan : {"ring", "star"}) {
    auto world = make_world(plan);
    on_every_rank(world, [](Communicator& comm) {
      for (const std::size_t count : {0, 1, 2, 3, 17, 1009, 200003}) {
        std::vector<float> private_values(count);
        const Block block = comm.allocate(count * sizeof(float));
        const std::span shared_values(reinterpret_cast<float*>(block.bytes().data()), count);
        for (std::size_t i = 0; i < count; ++i) {
          private_values[i] = shared_values[i] = value_of(comm.rank(), i);
        }
        comm.all_reduce(private_values, ReduceOp::kSum);
        comm.all_reduce(shared_values, ReduceOp::kSum);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(private_values[i], sum_of(comm.world_size(), i)) << "index " << i;
          ASSERT_EQ(shared_values[i], private_values[i]) << "index " << i;
        }
      }
    });
  }
}

TEST_P(ThreadWorldTest, FinishesRequestsThatNobodyWaitsFor) {
  auto world = make_world();
  on_every_rank(world, [](Communicator& comm) {
    std::vector<std::vector<double>> buckets(5, std::vector<double>(4001));
    for (int round = 0; round < 10; ++round) {
      std::vector<Request> requests;
      for (auto& bucket : buckets) {
        std::iota(bucket.begin(), bucket.end(), static_cast<double>(comm.rank()));
        requests.push_back(comm.all_reduce_async(bucket, ReduceOp::kSum));
      }
      while (!requests.back().test()) std::this_thread::yield();
      for (std::size_t b = 0; b < buckets.size(); ++b) {
        requests[b].wait();
        const auto n = static_cast<double>(comm.world_size());
        ASSERT_EQ(buckets[b][4000], 4000 * n + n * (n - 1) / 2);
      }
      comm.barrier();
    }
  });
}

TEST_P(ThreadWorldTest, HasEveryCollective) {
  auto world = make_world("auto");
  on_every_rank(world, [](Communicator& comm) {
    testing::EveryCollectiveCheck<float>(comm).run(1009);
    testing::EveryCollectiveCheck<std::int8_t>(comm).run(33);
  });
}

using BrokenWorldTest = ThreadWorldTest;

TEST_P(BrokenWorldTest, BreaksForGoodOnEveryRankWithTheFirstCause) {
  auto world = make_world();
  on_every_rank(world, [](Communicator& comm) {
    if (comm.rank() == 1) comm.abort("the disk is on fire");
    std::vector<float> values(100);
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        for (int i = 0; i < 1000; ++i) comm.all_reduce(values, ReduceOp::kSum);
        FAIL() << "rank " << comm.rank() << " heard nothing";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kAborted);
        EXPECT_NE(std::string(error.what()).find("rank 1: the disk is on fire"), std::string::npos)
            << error.what();
      }
    }
  });
}

TEST_P(BrokenWorldTest, NamesWhomAWaitWasFor) {
  ThreadWorldOptions options;
  options.world_size = GetParam();
  options.communicator.deadline = std::chrono::milliseconds(200);
  auto world = ThreadWorld::make(options);
  on_every_rank(world, [](Communicator& comm) {
    if (comm.rank() == 0) return;  // Never comes.
    std::vector<float> values(1000);
    try {
      comm.all_reduce(values, ReduceOp::kSum);
      FAIL() << "rank " << comm.rank() << " waited for nobody";
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kTimeout) {
        EXPECT_TRUE(error.blamed_rank().has_value());
        EXPECT_NE(std::string(error.what()).find("timed out after 0.2 s"), std::string::npos)
            << error.what();
      } else {
        EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
      }
    }
  });
}

TEST_P(BrokenWorldTest, RefusesCallsThatDiffer) {
  auto world = make_world();
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(comm.rank() == 0 ? 100 : 200);
    EXPECT_THROW(comm.all_reduce(values, ReduceOp::kSum), Error) << "rank " << comm.rank();
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, ThreadWorldTest, ::testing::Values(1, 2, 3, 4, 5));
INSTANTIATE_TEST_SUITE_P(Worlds, BrokenWorldTest, ::testing::Values(2, 3, 4, 5));

}  // namespace
}  // namespace rota

// Tests communicators whose ranks are threads, over the real shared-memory transport. Here a race
// detector sees both ends of every transfer.
#include "communicator/thread_world.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include "os/host.h"
#include "testing/barrier_check.h"
#include "testing/error_of.h"
#include "testing/every_collective.h"
#include "testing/on_every_rank.h"
#include "transport/shm/domain.h"

namespace rota {
namespace {

using testing::on_every_rank;

// Returns a small integer held in a float. Sums of these values are exact, so rounding cannot hide
// a mistake.
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

// One factor is 1 and one is 0: a rank that has nothing to scale, or contributes nothing, takes
// part like the others.
TEST_P(ThreadWorldTest, ScalesByEachRanksOwnFactor) {
  constexpr std::array kFactors{1.0, 0.5, -3.0, 0.0, 4.0};
  constexpr std::size_t kCount = 1009;
  for (const char* plan : {"ring", "direct", "hub", "by-host", "halving-doubling", "tree",
                           "two-level", "star", "shared-memory"}) {
    auto world = make_world(plan);
    on_every_rank(world, [&](Communicator& comm) {
      const auto own = Reduction::pre_scaled_sum(kFactors[comm.rank()]);
      std::vector<float> expected(kCount);
      for (std::size_t rank = 0; rank < comm.world_size(); ++rank) {
        for (std::size_t i = 0; i < kCount; ++i) {
          expected[i] += static_cast<float>(kFactors[rank]) * value_of(rank, i);
        }
      }
      std::vector<float> input(kCount);
      for (std::size_t i = 0; i < kCount; ++i) input[i] = value_of(comm.rank(), i);
      std::vector<float> values = input;
      comm.all_reduce(values, own);
      ASSERT_EQ(values, expected) << plan;
      std::vector<float> output(kCount);
      comm.all_reduce(input, output, own);
      ASSERT_EQ(output, expected) << plan;
      comm.reduce(input, output, 0, own);
      if (comm.rank() == 0) {
        ASSERT_EQ(output, expected) << plan;
      }
      const Slice part = slice_of(kCount, comm.rank(), comm.world_size());
      std::vector<float> sum(part.count);
      comm.reduce_scatter(input, sum, own);
      ASSERT_TRUE(std::equal(sum.begin(), sum.end(), &expected[part.offset])) << plan;
    });
  }
}

TEST_P(ThreadWorldTest, HasEveryCollective) {
  auto world = make_world("auto");
  on_every_rank(world, [](Communicator& comm) {
    testing::EveryCollectiveCheck<float>(comm).run(1009);
    testing::EveryCollectiveCheck<std::int8_t>(comm).run(33);
    testing::EveryCollectiveCheck<float, testing::AsRequests>(comm).run(33);
  });
}

TEST_P(ThreadWorldTest, LeavesABarrierWhenTheLastHasEntered) {
  auto world = make_world("auto");
  std::vector<testing::Mark> marks(world.size());
  on_every_rank(world, [&](Communicator& comm) { testing::BarrierCheck(comm, marks).run(); });
}

INSTANTIATE_TEST_SUITE_P(Worlds, ThreadWorldTest, ::testing::Values(1, 2, 3, 4, 5));

// Even without a launcher, a process may have a world of threads in addition to its own
// communicator.
TEST(ThreadWorld, StandsBesideWhatTheProcessHas) {
  Communicator alone{CommunicatorOptions{}};
  for (int time = 0; time < 2; ++time) {
    auto world = Communicator::for_threads(2, CommunicatorOptions{});
    for (std::size_t i = 0; i < world.size(); ++i) EXPECT_EQ(world[i].rank(), i);
    on_every_rank(world, [](Communicator& comm) {
      std::vector<float> values(1000, 1);
      comm.all_reduce(values, ReduceOp::kSum);
      EXPECT_EQ(values[999], 2);
    });
  }
  std::vector<float> values(1000, 1);
  alone.all_reduce(values, ReduceOp::kSum);
  EXPECT_EQ(values[999], 1);
}

TEST(ThreadWorld, RefusesNumbersOfThreadsThatAreMistakes) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{4097}, ~std::size_t{0}}) {
    const auto error =
        testing::error_of([&] { Communicator::for_threads(count, CommunicatorOptions{}); });
    ASSERT_TRUE(error) << count;
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error->what()).find("at most 4096"), std::string::npos) << error->what();
  }
}

TEST(ThreadWorld, NamesWhatIsInItsOptions) {
  CommunicatorOptions options;
  EXPECT_EQ(Communicator(options).kernels(), "");
  EXPECT_EQ(Communicator(options).plan(), "auto");
  options.kernels = "scalar";
  options.plan = "ring";
  options.codec_seed = 7;
  auto world = Communicator::for_threads(2, options);
  on_every_rank(world, [](Communicator& comm) {
    EXPECT_EQ(comm.kernels(), "scalar");
    EXPECT_EQ(comm.plan(), "ring");
    EXPECT_EQ(comm.codec_seed(), 7U);
    EXPECT_EQ(comm.split(0).kernels(), "scalar");
  });
}

// Shared memory counts as a file. The system kills a process that makes a larger file than the
// process's limit allows.
TEST(ThreadWorld, TakesAsMuchMemoryAsFilesMayHave) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small{.rlim_cur = (std::size_t{8} << 20) + 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(transport::shm::thread_arena_bytes(2), std::size_t{8} << 20);
  auto world = Communicator::for_threads(2);
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(1000, 1);
    comm.all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(values.back(), 2);
  });
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  try {
    transport::shm::thread_arena_bytes(2);
    ADD_FAILURE() << "4096 bytes were enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNoMemory);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

#if !defined(ROTA_IS_SANITIZED)  // A sanitizer has more addresses than any limit allows.
// All threads use the same addresses, and the program needs some of them.
TEST(ThreadWorld, TakesAsManyAddressesAsTheProcessMayHave) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit low{.rlim_cur = pages * os::page_bytes() + 2048 * kMiB, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &low), 0);
  EXPECT_LE(transport::shm::thread_arena_bytes(2), 512 * kMiB);
  EXPECT_GE(transport::shm::thread_arena_bytes(2), 500 * kMiB);
  auto world = Communicator::for_threads(2);
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(1000, 1);
    comm.all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(values.back(), 2);
  });
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}
#endif

}  // namespace
}  // namespace rota

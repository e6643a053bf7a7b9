// The mean of Float16 of 64 ranks is finite by every plan, and small values are rounded as
// <rota/reduce_op.h> says. Method: all ranks have the same value, over the simulated network.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "testing/promises.h"
#include "testing/sim_world.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Buffer;
using collectives::Collective;
using collectives::PlanRequest;
using testing::SimWorld;

constexpr std::size_t kMeanRanks = 64;
constexpr std::size_t kMeanCount = 16 * kMeanRanks + 5;  // Every rank has a chunk.

// Runs a collective in which every element is `value` on every rank. Passes each promised element
// of each rank to `check`.
template <class Check>
void reduce_equal_values(const PlanRequest& request, Float16 value, Check check) {
  SimWorld world({.world_size = kMeanRanks, .seed = 7, .max_delay = 1});
  std::vector<PlanRequest> requests(kMeanRanks, request);
  for (std::size_t rank = 0; rank < kMeanRanks; ++rank) {
    requests[rank].rank = rank;
    const auto fill = [&](Buffer buffer, std::size_t count) {
      world.fill_buffer<Float16>(rank, buffer, count, [&](std::size_t) { return value; });
    };
    fill(Buffer::kInput, testing::input_count(requests[rank]));
    fill(Buffer::kValues, testing::values_count(requests[rank]));
  }
  world.start_all(request, ReduceOp::kMean, DataType::kFloat16);
  ASSERT_TRUE(world.run()) << world.replay();
  for (std::size_t rank = 0; rank < kMeanRanks; ++rank) {
    ASSERT_FALSE(world.error(rank)) << world.replay() << ": " << world.error(rank)->what();
    const auto promises = testing::promises(requests, rank);
    const auto values = world.values<Float16>(rank);
    for (std::size_t i = 0; i < promises.size(); ++i) {
      if (!promises[i]) continue;
      ASSERT_TRUE(check(values[i])) << "rank " << rank << ": " << static_cast<float>(values[i]);
    }
  }
}

// Calls `run` with a request for each plan and each collective that reduces by it, in place or not.
template <class Run>
void for_every_reducing_plan(Run run) {
  std::vector<std::size_t> hosts(kMeanRanks);
  for (std::size_t rank = 0; rank < kMeanRanks; ++rank) hosts[rank] = rank / 3;
  for (const Collective collective :
       {Collective::kAllReduce, Collective::kReduce, Collective::kReduceScatter}) {
    for (int a = 1; a <= static_cast<int>(collectives::kLastAlgorithm); ++a) {
      const auto algorithm = static_cast<Algorithm>(a);
      const bool makes_plans =
          collectives::has_plans(algorithm) && collectives::makes(algorithm, collective);
      for (const bool in_place : {true, false}) {
        PlanRequest request{{.collective = collective,
                             .algorithm = algorithm,
                             .count = kMeanCount,
                             .in_place = in_place},
                            0,
                            kMeanRanks,
                            sizeof(Float16)};
        request.hosts = hosts;
        SCOPED_TRACE(std::string(to_string(collective)) + " by " +
                     std::string(to_string(algorithm)) + (in_place ? ", in place" : ""));
        if (makes_plans) run(request);
      }
    }
  }
}

// Along the ring, each of the 62 additions of a partial sum rounds: 60000 becomes 59808.
TEST(Float16Mean, OfLargeValuesIsFinite) {
  for_every_reducing_plan([](const PlanRequest& request) {
    reduce_equal_values(request, Float16(60000.0F), [](Float16 mean) {
      return std::abs(static_cast<float>(mean) - 60000.0F) <= 600;
    });
  });
}

// Each rank rounds 1e-5 / 64 to three times the smallest Float16. These sums do not round.
TEST(Float16Mean, OfSmallValuesIsThatOfWhatScalingLeaves) {
  for_every_reducing_plan([](const PlanRequest& request) {
    reduce_equal_values(request, Float16(1e-5F),
                        [](Float16 mean) { return static_cast<float>(mean) == 3 * 0x1p-18F; });
  });
}

}  // namespace
}  // namespace rota

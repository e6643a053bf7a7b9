// Plans of calls whose values, together, have more bytes than a machine can count. A plan is only a
// table, so no test here needs the memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <rota/error.h>

#include "collectives/plan.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Plan;
using collectives::PlanRequest;
using collectives::Verb;

// Every host adds up a part of many values. The values of all ranks together have 2^32 bytes, which
// a number of 32 bits does not show. A rank of 32 bits must not take them for few. So
// only a build of 32 bits fails without the right type.
TEST(HugePlans, EveryHostAddsUpAPartWhateverTheSizeOfANumber) {
  constexpr std::size_t kHosts = 8;
  constexpr std::size_t kCount = std::size_t{1} << 27;
  std::vector<std::size_t> hosts(kHosts);
  std::iota(hosts.begin(), hosts.end(), std::size_t{0});
  for (std::size_t rank = 0; rank < kHosts; ++rank) {
    PlanRequest request{{.algorithm = Algorithm::kByHost, .count = kCount}, rank, kHosts};
    request.hosts = hosts;
    const Plan plan = collectives::make_plan(request);
    EXPECT_EQ(std::ranges::count(plan.steps, Verb::kAdd, &collectives::Step::verb), 7) << rank;
  }
}

// Returns the code of the Error of a plan, or nothing if the plan is made.
std::optional<ErrorCode> refusal(const PlanRequest& request) {
  try {
    collectives::make_plan(request);
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

// The values of a rank take a quarter of the addresses. A hub needs room for those of all others,
// and its room must not become small because the number of its elements overflows.
TEST(HugePlans, ValuesThatFitNoMachineAreRefused) {
  constexpr std::size_t kCount = std::numeric_limits<std::size_t>::max() / 4 / sizeof(float) + 1;
  const auto request_of = [](Algorithm algorithm, std::size_t rank, std::size_t world_size) {
    return PlanRequest{{.algorithm = algorithm, .count = kCount}, rank, world_size};
  };
  EXPECT_EQ(refusal(request_of(Algorithm::kHub, 0, 2)), std::nullopt);
  EXPECT_EQ(refusal(request_of(Algorithm::kHub, 1, 5)), std::nullopt) << "it needs no room";
  for (const std::size_t n : {4, 5, 6, 17}) {
    EXPECT_EQ(refusal(request_of(Algorithm::kHub, 0, n)), ErrorCode::kNoMemory) << n;
  }
}

// The bundle from the 16 ranks of the second host has more bytes than a program can have.
TEST(HugePlans, ABundleThatFitsNoMachineIsRefused) {
  constexpr std::size_t kRanks = 17;
  constexpr std::size_t kCount = std::numeric_limits<std::size_t>::max() / 16 + 1;
  std::vector<std::size_t> hosts(kRanks, 1);
  hosts.front() = 0;
  PlanRequest request{{.algorithm = Algorithm::kByHost, .count = kCount}, 0, kRanks};
  request.type = DataType::kInt8;
  request.element_bytes = 1;
  request.hosts = hosts;
  EXPECT_EQ(refusal(request), ErrorCode::kNoMemory);
}

}  // namespace
}  // namespace rota

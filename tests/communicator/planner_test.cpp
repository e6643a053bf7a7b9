// Tests what the planner does once for repeated calls, and what it checks again in every call.
#include "communicator/planner.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "communicator/methods.h"
#include "testing/comma_locale.h"

namespace rota {
namespace {

using collectives::Collective;
using collectives::Description;
using collectives::PlannedCollective;

// Returns a group as its rank 0 sees it. The group is only for planning: it sends nothing.
Group group_of(std::size_t world_size) {
  Group group;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    group.table.rows.push_back({.host = "here", .address = {}, .cores = {}});
    group.members.push_back(rank);
  }
  return with_own_methods(std::move(group));
}

class PlannerTest : public ::testing::Test {
 protected:
  struct Found {
    std::shared_ptr<const PlannedCollective> planned;
    std::uint64_t number = 0;
  };
  Found plan(Call call) {
    const Planner::Known& known = planner_.plan(call);
    return {known.planned, known.number};
  }
  std::string refusal(Call call) {
    try {
      planner_.plan(call);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  Group group_ = group_of(1);
  Settings settings_{CommunicatorOptions{}};
  Planner planner_{group_, settings_};
  std::vector<float> memory_ = std::vector<float>(64);
  std::span<float> all_{memory_};
};

Call sum_of(Values values, Reduction reduction = ReduceOp::kSum) {
  return {.what = {.collective = Collective::kAllReduce, .reduction = reduction}, .values = values};
}

TEST_F(PlannerTest, ExaminesACallOnce) {
  const Found first = plan(sum_of(all_.first(10)));
  for (const std::size_t start : {0, 3, 20}) {
    const Found again = plan(sum_of(all_.subspan(start, 10)));
    EXPECT_EQ(again.planned, first.planned);
    EXPECT_EQ(again.number, first.number) << "the call was examined again";
  }
}

TEST_F(PlannerTest, ExaminesACallWithAnInputOnce) {
  const auto call = [&](std::size_t input, std::size_t count) -> Call {
    return {.what = {.collective = Collective::kAllReduce},
            .values = all_.first(count),
            .input = all_.subspan(input, count)};
  };
  const Found first = plan(call(10, 8));
  EXPECT_EQ(plan(call(8, 8)).number, first.number) << "the call was examined again";
  EXPECT_EQ(refusal(call(7, 8)),
            "all_reduce: the input overlaps the output; the form with one argument works in place");
  EXPECT_EQ(plan(call(8, 8)).number, first.number) << "the call was examined again";
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce},
                     .values = all_.first(8),
                     .input = all_.last(7)}),
            "all_reduce: the input has 7 elements; expected 8");
}

TEST_F(PlannerTest, PlansWhatDiffersInAnything) {
  std::vector<std::int32_t> integers(10);
  std::vector<float> feedback(10);
  const std::span<float> ten = all_.first(10);
  const Reduction sum = ReduceOp::kSum;
  const Call fed{.what = {.reduction = sum.by(Codec::kInt8)}, .values = ten, .feedback = feedback};
  const std::array<std::size_t, 1> counts{10};
  const std::vector<Call> calls{
      sum_of(ten),
      sum_of(all_.first(11)),
      sum_of(integers),
      sum_of(ten, ReduceOp::kMax),
      sum_of(ten, Reduction::pre_scaled_sum(2)),
      sum_of(ten, Reduction::pre_scaled_sum(3)),
      sum_of(ten, sum.by(Codec::kInt8)),
      sum_of(ten, sum.by(Codec::kIdentity)),
      fed,
      {.what = {.collective = Collective::kAllReduce}, .values = ten, .input = all_.last(10)},
      {.what = {.collective = Collective::kReduce}, .values = ten},
      {.what = {.collective = Collective::kReduceScatter}, .values = ten},
      {.what = {.collective = Collective::kReduceScatter, .uneven = true},
       .values = ten,
       .counts = counts},
      {.what = {.collective = Collective::kBroadcast}, .values = ten},
      {.what = {.collective = Collective::kBarrier}},
  };
  std::vector<std::shared_ptr<const PlannedCollective>> planned;
  planned.reserve(std::size(calls));
  for (const Call& call : calls) planned.push_back(plan(call).planned);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(planned[i], planned[j]) << i << " and " << j;
    const bool comes_again = !calls[i].what.uneven;
    EXPECT_EQ(plan(calls[i]).planned == planned[i], comes_again) << i;
  }
}

TEST_F(PlannerTest, LooksAtAddressesOfACallThatComesAgain) {
  plan(sum_of(all_.first(4)));
  EXPECT_EQ(refusal(sum_of(std::span(static_cast<float*>(nullptr), 4))),
            "all_reduce: the output's address is null");
  auto* crooked = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(memory_.data()) + 2);
  EXPECT_EQ(refusal(sum_of(std::span(crooked, 4))),
            "all_reduce: the output's address is not aligned for float32");
  // The next calls differ from the first call only in the input or in the feedback.
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce},
                     .values = all_.first(4),
                     .input = all_.subspan(2, 4)}),
            "all_reduce: the input overlaps the output; the form with one argument works in place");
  const Reduction coded = Reduction(ReduceOp::kSum).by(Codec::kInt8);
  Call fed = sum_of(all_.first(4), coded);
  fed.feedback = all_.subspan(8, 4);
  plan(fed);
  fed.feedback = all_.subspan(2, 4);
  EXPECT_EQ(refusal(fed), "all_reduce: the feedback overlaps the values");
}

TEST_F(PlannerTest, ExaminesASendOnceAndLooksAtItsAddress) {
  const Group pair = group_of(2);
  Planner planner(pair, settings_);
  const auto send = [&](ConstValues values) -> std::uint64_t {
    Call call{.what = {.collective = Collective::kSend, .root = 1}, .input = values};
    return planner.plan(call).number;
  };
  const std::uint64_t first = send(std::span<const float>(all_.first(4)));
  EXPECT_EQ(send(std::span<const float>(all_.last(4))), first) << "the call was examined again";
  EXPECT_NE(send(std::span<const float>(all_.first(5))), first);
  EXPECT_THROW(send(std::span(static_cast<const float*>(nullptr), 4)), Error);
}

// If an input is at its place in the output, the call is in place. The plan is the same as without
// an input.
TEST_F(PlannerTest, KnowsACallInPlaceHoweverItWasMade) {
  const Found with_part = plan({.what = {.collective = Collective::kAllGather},
                                .values = all_.first(8),
                                .input = all_.first(8)});
  const Found without =
      plan({.what = {.collective = Collective::kAllGather}, .values = all_.first(8)});
  EXPECT_EQ(with_part.planned, without.planned);
  EXPECT_TRUE(without.planned->call.in_place);
}

TEST_F(PlannerTest, KnowsGroupsByTheirBuffers) {
  const std::array<Values, 2> group{all_.first(4), all_.subspan(10, 6)};
  const std::array<Values, 2> elsewhere{all_.first(4), all_.subspan(20, 6)};
  const std::array<Values, 2> cut_elsewhere{all_.first(6), all_.subspan(10, 4)};
  const auto sum = [](std::span<const Values> of) {
    return Call{.what = {.collective = Collective::kAllReduce}, .group = of};
  };
  const Found whole = plan(sum_of(all_.first(10)));
  const Found first = plan(sum(group));
  EXPECT_EQ(first.planned, whole.planned) << "both calls have 10 elements";
  EXPECT_NE(first.number, whole.number);
  EXPECT_EQ(plan(sum(std::vector(group.begin(), group.end()))).number, first.number);
  EXPECT_NE(plan(sum(elsewhere)).number, first.number);
  EXPECT_NE(plan(sum(cut_elsewhere)).number, first.number);
  std::array<std::int32_t, 6> integers{};
  EXPECT_EQ(refusal(sum(std::array<Values, 2>{all_.first(4), integers})),
            "all_reduce: the buffers of a group must have one type; here are float32 and int32");
}

// The order of operations depends on the memory that each of them uses. Calls that share a plan use
// as much memory, so it must not matter which of them comes first.
TEST_F(PlannerTest, KnowsTheMemoryOfACallAfterAGroupOfTheSameCount) {
  const std::array<Values, 2> group{all_.first(4), all_.subspan(10, 6)};
  plan({.what = {.collective = Collective::kAllReduce}, .group = group});
  EXPECT_EQ(plan(sum_of(all_.first(10))).planned->value_bytes, 10 * sizeof(float));
}

// Rank 0 is not the root.
TEST_F(PlannerTest, LeavesOutMemoryThatOnlyTheRootUses) {
  const Group pair = group_of(2);
  Planner planner(pair, settings_);
  const auto used = [&](Collective collective, std::span<float> output, std::span<float> input) {
    Call call{.what = {.collective = collective, .root = 1}, .values = output, .input = input};
    const PlannedCollective& planned = *planner.plan(call).planned;
    return std::pair(planned.value_bytes, planned.input_bytes);
  };
  const auto none = std::span<float>();
  const auto bytes = [](std::size_t output, std::size_t input) {
    return std::pair(output * sizeof(float), input * sizeof(float));
  };
  EXPECT_EQ(used(Collective::kGather, all_.first(16), all_.last(8)), bytes(0, 8));
  EXPECT_EQ(used(Collective::kReduce, all_.first(8), all_.last(8)), bytes(0, 8));
  EXPECT_EQ(used(Collective::kReduce, none, all_.last(8)), bytes(0, 8));
  EXPECT_EQ(used(Collective::kScatter, all_.first(8), all_.last(16)), bytes(8, 0));
  Call in_place{.what = {.collective = Collective::kReduce, .root = 1}, .values = all_.first(8)};
  EXPECT_EQ(planner.plan(in_place).planned->value_bytes, 8 * sizeof(float));
}

// --verbose: what a call has is said in units.
TEST_F(PlannerTest, SaysTheSameInEveryLocale) {
  Group pair = group_of(2);
  pair.verbose = true;
  Planner planner(pair, settings_);
  std::vector<float> values(384);
  Call call = sum_of(values);
  const testing::CommaLocale locale;
  ASSERT_TRUE(testing::CommaLocale::is_in_use());
  ::testing::internal::CaptureStderr();
  planner.plan(call);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.rfind("rota: all_reduce of 1.5 KiB float32 on 2 ranks", 0), 0U) << said;
}

// Each description differs in one member. If a member did not count, one call would get the plan of
// another.
TEST(Descriptions, DifferInEachMember) {
  const Description plain;
  const std::vector<Description> others{
      {.collective = Collective::kReduce},
      {.algorithm = collectives::Algorithm::kDirect},
      {.type = DataType::kInt32},
      {.memory = MemoryKind::of_device(0)},
      {.count = 1},
      {.root = 1},
      {.in_place = false},
      {.uneven = true},
      {.reduction = ReduceOp::kMax},
      {.reduction = Reduction::pre_scaled_sum(2)},
      {.reduction = Reduction(ReduceOp::kSum).by(Codec::kInt8)},
      {.codec = Codec::kInt8},
      {.feeds_back = true},
  };
  for (const Description& other : others) {
    EXPECT_NE(other, plain);
    EXPECT_NE(hash_of(other), hash_of(plain)) << &other - others.data();
  }
  EXPECT_EQ(others.size(), std::tuple_size_v<decltype(plain.members())>)
      << "`others` lacks a member";
}

}  // namespace
}  // namespace rota

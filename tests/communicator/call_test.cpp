// Calls with invalid arguments are refused, with a sentence, before anything happens.
#include "communicator/call.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <rota/error.h>

namespace rota {
namespace {

using collectives::Collective;

constexpr std::size_t kRank = 1;
constexpr std::size_t kWorldSize = 3;

// Returns the refusal of a call; empty if the call is accepted.
std::string refusal(Call call) {
  try {
    call.look_at_buffers();
    describe(call, kRank, kWorldSize);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return {};
}

class CallTest : public ::testing::Test {
 protected:
  std::vector<float> nine_ = std::vector<float>(9);
  std::vector<float> other_nine_ = std::vector<float>(9);
  std::vector<float> three_ = std::vector<float>(3);
  std::vector<double> doubles_ = std::vector<double>(9);
};

TEST_F(CallTest, NullAddressesAreRefusedUnlessThereIsNothingThere) {
  const std::span<float> null(static_cast<float*>(nullptr), 4);
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce}, .values = null}),
            "all_reduce: the output's address is null");
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce}, .values = null.first(0)}), "");
}

TEST_F(CallTest, AddressesAreAlignedForTheirType) {
  alignas(8) std::array<std::byte, 64> storage{};
  const std::span crooked(reinterpret_cast<double*>(storage.data() + 4), 2);
  EXPECT_EQ(refusal({.what = {.collective = Collective::kBroadcast}, .values = crooked}),
            "broadcast: the output's address is not aligned for float64");
}

TEST_F(CallTest, NothingIsLongerThanTheAddressSpace) {
  const std::span endless(nine_.data(), ~std::size_t{0} / 4);
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce}, .values = endless}),
            "all_reduce: the output is longer than the address space");
}

TEST_F(CallTest, RootsAndPeersAreInTheWorld) {
  EXPECT_EQ(refusal({.what = {.collective = Collective::kBroadcast, .root = 3}, .values = nine_}),
            "broadcast: root 3 is outside of the world of 3");
  EXPECT_EQ(refusal({.what = {.collective = Collective::kSend, .root = 7}, .input = nine_}),
            "send: rank 7 is outside of the world of 3");
  EXPECT_EQ(refusal({.what = {.collective = Collective::kReceive, .root = kRank}, .values = nine_}),
            "receive: rank 1 is this rank itself");
}

TEST_F(CallTest, InputAndOutputHaveOneTypeAndFit) {
  EXPECT_EQ(
      refusal({.what = {.collective = Collective::kAllReduce}, .values = nine_, .input = doubles_}),
      "all_reduce: the input is float64, but the output is float32");
  EXPECT_EQ(
      refusal({.what = {.collective = Collective::kAllReduce}, .values = nine_, .input = three_}),
      "all_reduce: the input has 3 elements; expected 9");
  EXPECT_EQ(
      refusal(
          {.what = {.collective = Collective::kReduceScatter}, .values = nine_, .input = nine_}),
      "reduce_scatter: the output has 9 elements; expected 3");
  EXPECT_EQ(
      refusal(
          {.what = {.collective = Collective::kAllGather}, .values = nine_, .input = other_nine_}),
      "all_gather: the part has 9 elements; expected 3");
}

TEST_F(CallTest, RootsOfGatherAndScatterHaveRoomForAll) {
  EXPECT_EQ(refusal({.what = {.collective = Collective::kGather, .root = kRank},
                     .values = three_,
                     .input = three_}),
            "gather: the output has 3 elements; expected 9");
  EXPECT_EQ(refusal({.what = {.collective = Collective::kGather, .root = 0},
                     .values = three_,
                     .input = three_}),
            "")
      << "only the root's output is checked";
  EXPECT_EQ(refusal({.what = {.collective = Collective::kScatter, .root = kRank},
                     .values = three_,
                     .input = three_}),
            "scatter: the input has 3 elements; expected 9");
}

// Each part fits the address space, but the product of its count and the world's size overflows.
TEST_F(CallTest, EqualPartsTogetherFitTheAddressSpace) {
  const std::span few = std::as_writable_bytes(std::span(three_));
  const std::span part(std::as_writable_bytes(std::span(nine_)).data(),
                       ~std::size_t{0} / kWorldSize + 1);
  EXPECT_EQ(
      refusal(
          {.what = {.collective = Collective::kGather, .root = 0}, .values = few, .input = part}),
      "gather: the parts of all ranks add up to more than the address space");
  EXPECT_EQ(
      refusal(
          {.what = {.collective = Collective::kScatter, .root = 0}, .values = part, .input = few}),
      "scatter: the parts of all ranks add up to more than the address space");
}

TEST_F(CallTest, OverlapsAreRefusedUnlessAPartLiesInItsPlace) {
  const std::span<float> all(nine_);
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce},
                     .values = all.first(6),
                     .input = all.last(6)}),
            "all_reduce: the input overlaps the output; the form with one argument works in place");
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllGather},
                     .values = all,
                     .input = all.subspan(2, 3)}),
            "all_gather: the input overlaps the output; the form with one argument works in place");
  Call in_place{
      .what = {.collective = Collective::kAllGather}, .values = all, .input = all.subspan(3, 3)};
  in_place.look_at_buffers();
  EXPECT_FALSE(in_place.what.in_place);
  EXPECT_TRUE(describe(in_place, kRank, kWorldSize).in_place);
}

TEST_F(CallTest, CountsAreOneARankAndAddUp) {
  const std::vector<std::size_t> two{4, 5};
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllGather, .uneven = true},
                     .values = nine_,
                     .counts = two}),
            "all_gather_v: the counts have 2 entries; expected one for each of 3 ranks");
  const std::vector<std::size_t> ten{4, 5, 1};
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllGather, .uneven = true},
                     .values = nine_,
                     .counts = ten}),
            "all_gather_v: the output has 9 elements; expected 10");
  const std::vector<std::size_t> endless{~std::size_t{0} / 2, ~std::size_t{0} / 2, 1};
  EXPECT_EQ(refusal({.what = {.collective = Collective::kReduceScatter, .uneven = true},
                     .values = nine_,
                     .counts = endless}),
            "reduce_scatter_v: the counts add up to more than the address space");
}

TEST_F(CallTest, ExchangesHaveEqualParts) {
  std::vector<float> ten(10);
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllToAll}, .values = ten}),
            "all_to_all: 10 elements cannot be divided equally among 3 ranks; all_to_all_v takes "
            "unequal parts");
}

TEST_F(CallTest, OperationsFitTheirType) {
  std::vector<std::byte> bytes(9);
  EXPECT_NE(refusal({.what = {.collective = Collective::kAllReduce}, .values = bytes}), "");
  std::vector<std::int32_t> integers(9);
  const Call mean{.what = {.collective = Collective::kAllReduce, .reduction = ReduceOp::kMean},
                  .values = integers};
  EXPECT_NE(refusal(mean).find("integers have no mean"), std::string::npos);
  const Call bits{.what = {.collective = Collective::kReduce, .reduction = ReduceOp::kBitXor},
                  .values = nine_};
  EXPECT_NE(refusal(bits).find("bitwise operations are for integers"), std::string::npos);
}

TEST_F(CallTest, BuffersLieInOneMemory) {
  const DeviceSpan<float> there(nine_.data(), 9, 0);
  const DeviceSpan<float> elsewhere(other_nine_.data(), 9, 1);
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce}, .values = there}), "");
  EXPECT_EQ(
      refusal(
          {.what = {.collective = Collective::kAllReduce}, .values = there, .input = other_nine_}),
      "all_reduce: the input is in host memory, but the output is in the memory of device 0; "
      "a rank's buffers of one call lie in one memory");
  const std::array<Values, 2> apart{Values(there), Values(elsewhere)};
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce}, .group = apart}),
            "all_reduce: a buffer of the group is in the memory of device 1, but its first buffer "
            "is in the memory of device 0; a rank's buffers of one call lie in one memory");
  const Call coded{.what = {.collective = Collective::kAllReduce,
                            .reduction = Reduction(ReduceOp::kSum).by(Codec::kInt8)},
                   .values = there,
                   .feedback = other_nine_};
  EXPECT_NE(refusal(coded).find("the feedback is in host memory, but the values are in"),
            std::string::npos);
}

// An output that no rank looks at may be empty, and an empty buffer lies nowhere.
TEST_F(CallTest, TheMemoryIsThatOfTheBufferThatHasElements) {
  Call call{.what = {.collective = Collective::kReduce},
            .values = std::span<float>(),
            .input = DeviceSpan<float>(nine_.data(), 9, 2)};
  call.look_at_buffers();
  EXPECT_EQ(describe(call, kRank, kWorldSize).memory, MemoryKind::of_device(2));
}

TEST_F(CallTest, GroupsHaveOneType) {
  const std::array<Values, 2> mixed{Values(nine_), Values(doubles_)};
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce}, .group = mixed}),
            "all_reduce: the buffers of a group must have one type; here are float32 and float64");
  EXPECT_EQ(refusal({.what = {.collective = Collective::kAllReduce}}),
            "all_reduce: the group has no buffer");
}

}  // namespace
}  // namespace rota

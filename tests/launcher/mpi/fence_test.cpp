// Tests how the shares of hosts become the result of a fence, and who is absent from it.
#include "launcher/mpi/fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr base::TimePoint at(int second) { return base::TimePoint{} + seconds(second); }

TEST(Fences, EndWithTheShareOfTheLastHost) {
  Fences fences({0, 1, 2, 5}, seconds(30));
  EXPECT_EQ(fences.take({.key = "a", .arrived = {2, 5}, .data = "second "}, at(0)), std::nullopt);
  EXPECT_EQ(fences.take({.key = "b", .arrived = {2, 5}, .data = "other "}, at(0)), std::nullopt);
  EXPECT_EQ(fences.take({.key = "a", .arrived = {0, 1}, .data = "first "}, at(1)),
            (FenceResult{.key = "a", .data = "first second "}))
      << "in the order of the ranks";
  EXPECT_TRUE(fences.next_deadline()) << "b goes on";
  EXPECT_TRUE(fences.take({.key = "b", .arrived = {0, 1}}, at(1)));
  EXPECT_EQ(fences.next_deadline(), std::nullopt);
}

TEST(Fences, MayBeOfSomeRanks) {
  Fences fences({0, 1, 2, 5}, seconds(30));
  EXPECT_EQ(fences.take({.key = "a", .members = {1, 5}, .arrived = {5}}, at(0)), std::nullopt);
  EXPECT_TRUE(fences.take({.key = "a", .members = {1, 5}, .arrived = {1}}, at(0)));
}

TEST(Fences, NameTheRanksThatAreAbsent) {
  Fences fences({0, 1, 2, 5}, seconds(30));
  EXPECT_EQ(fences.take({.key = "a", .arrived = {5}, .is_whole = false}, at(3)), std::nullopt);
  EXPECT_EQ(fences.take({.key = "a", .arrived = {0}, .data = "x"}, at(4)), std::nullopt);
  EXPECT_EQ(fences.next_deadline(), at(33));
  EXPECT_THAT(fences.absent_by(at(32)), IsEmpty());
  EXPECT_THAT(fences.absent_by(at(33)), ElementsAre(1, 2));
}

TEST(Fences, HaveABound) {
  Fences fences({0, 1}, seconds(30));
  fences.take({.key = "a", .arrived = {0}, .data = std::string(kMostFenceBytes, 'x')}, at(0));
  EXPECT_EQ(fences.excess_bytes(), 0U);
  EXPECT_EQ(fences.take({.key = "a", .arrived = {1}, .data = "y"}, at(0)), std::nullopt);
  EXPECT_EQ(fences.excess_bytes(), kMostFenceBytes + 1);
  FenceShare large{.key = "b", .arrived = {0}, .data = std::string(kMostFenceBytes + 7, 'x')};
  limit_data(large);
  Fences others({0, 1}, seconds(30));
  EXPECT_EQ(others.take(*decode_fence_share(encode(large)), at(0)), std::nullopt);
  EXPECT_EQ(large.data, "") << "it would be too long for a message";
  EXPECT_EQ(others.excess_bytes(), kMostFenceBytes + 7);
}

TEST(MpiWires, CarryWhatTheyAreGiven) {
  const FenceShare share{.key = "k",
                         .members = {1, 2},
                         .arrived = {2},
                         .is_whole = false,
                         .data = std::string("a\0b", 3)};
  EXPECT_EQ(decode_fence_share(encode(share)), share);
  const FenceResult result{.key = "k", .data = std::string("a\0b", 3)};
  EXPECT_EQ(decode_fence_result(encode(result)), result);
  EXPECT_EQ(decode_fence_share(encode(FenceShare{.key = "k"})), std::nullopt) << "of no rank";
}

}  // namespace
}  // namespace rota::launcher

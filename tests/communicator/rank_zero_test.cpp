// Tests rank 0's word to the other ranks, and which of its places another rank tries.
#include "communicator/rank_zero.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores/store.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const RankZero kTcp{
    .machine = "a0", .places = {"10.0.0.1:7", "172.17.0.1:7", "[fd00::1]:7"}, .key = "c0ffee"};

TEST(RankZero, IsReadAsItWasWritten) {
  for (const std::string key : {"", "c0ffee"}) {
    RankZero first = kTcp;
    first.key = key;
    const auto read = decode_rank_zero(encode(first));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->machine, "a0");
    EXPECT_EQ(read->places, first.places);
    EXPECT_EQ(read->key, key);
  }
}

// A host may have a hundred addresses. The first ones are those of its first network cards.
TEST(RankZero, LeavesOutPlacesThatDoNotFit) {
  RankZero first = kTcp;
  for (int i = 0; i < 100; ++i) first.places.push_back("10.1.0." + std::to_string(i) + ":41234");
  const std::string word = encode(first);
  EXPECT_LE(word.size(), stores::kMostWordBytes);
  EXPECT_GT(word.size(), stores::kMostWordBytes - 20);
  const auto read = decode_rank_zero(word);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->places.front(), "10.0.0.1:7");
  EXPECT_TRUE(first.places[read->places.size() - 1] == read->places.back()) << "none is cut";
}

TEST(RankZero, IsNotReadFromAnotherWord) {
  for (const char* word : {"", ";", "rota1", "rota1;a0", "rota1;a0;key", "rota1;a0;key;",
                           "rota1;;key;1.2.3.4:5", kNoPlaces.data(), "rota2;a0;key;1.2.3.4:5"}) {
    EXPECT_FALSE(decode_rank_zero(word)) << word;
  }
}

TEST(RankZero, IsTriedAtLoopbackOnItsOwnMachine) {
  EXPECT_THAT(places_to_try(kTcp, "a0", {"10.0.0.1"}), ElementsAre("127.0.0.1:7"));
  const RankZero local{.machine = "a0", .places = {"@rota-0-1:0"}};
  EXPECT_THAT(places_to_try(local, "a0", {}), ElementsAre("@rota-0-1:0"));
}

TEST(RankZero, IsNotTriedAtAnAddressThatBothMachinesHave) {
  EXPECT_THAT(places_to_try(kTcp, "b1", {"10.0.0.2", "172.17.0.1"}),
              ElementsAre("10.0.0.1:7", "[fd00::1]:7"));
  EXPECT_THAT(places_to_try(kTcp, "b1", {"10.0.0.1", "172.17.0.1", "fd00::1"}), IsEmpty());
}

}  // namespace
}  // namespace rota

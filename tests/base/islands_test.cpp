// Ranks of an island know each other.
#include "base/islands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::base {
namespace {

using ::testing::ElementsAre;

TEST(Islands, HaveTheirRanksInOrder) {
  const Islands islands = {7, 4, 7, 7};
  EXPECT_THAT(island_of(islands, 2), ElementsAre(0, 2, 3));
  EXPECT_THAT(island_of(islands, 1), ElementsAre(1));
}

TEST(Islands, GiveEachRankAPlace) {
  EXPECT_EQ(place_among(std::vector<std::size_t>{0, 2, 3}, 2), 1U);
  EXPECT_EQ(place_among(std::vector<std::size_t>{4}, 4), 0U);
}

}  // namespace
}  // namespace rota::base

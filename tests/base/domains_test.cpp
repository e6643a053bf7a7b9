// Tests which ranks are in one shared-memory domain.
#include "base/domains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::base {
namespace {

using ::testing::ElementsAre;

TEST(Domains, HaveTheirRanksInOrder) {
  const Domains domains = {7, 4, 7, 7};
  EXPECT_THAT(domain_of(domains, 2), ElementsAre(0, 2, 3));
  EXPECT_THAT(domain_of(domains, 1), ElementsAre(1));
}

TEST(Domains, GiveEachRankAPlace) {
  EXPECT_EQ(index_in(std::vector<std::size_t>{0, 2, 3}, 2), 1U);
  EXPECT_EQ(index_in(std::vector<std::size_t>{4}, 4), 0U);
}

}  // namespace
}  // namespace rota::base

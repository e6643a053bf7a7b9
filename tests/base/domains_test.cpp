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

TEST(Arenas, AreAsLargeAsMemory) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  if (sizeof(std::size_t) == 8) {
    EXPECT_EQ(arena_bytes(24 * kGiB - 5, 4, true), 24 * kGiB);
    EXPECT_EQ(arena_bytes(100, 4, true), kGiB);
    EXPECT_EQ(arena_bytes(500 * kGiB, 4, true), 64 * kGiB);
  }
  EXPECT_EQ(arena_bytes(4 * kGiB, 4, false), kGiB / 4);
  EXPECT_EQ(arena_bytes(4 * kGiB, 3, false) % 65536, 0U);
  EXPECT_LE(3 * arena_bytes(4 * kGiB, 3, false), kGiB);
  // Eight 32-bit ranks on a board of 1 GB, whose pages may have up to 64 KiB.
  EXPECT_EQ(arena_bytes(936 << 20, 8, false), kGiB / 8);
  EXPECT_EQ(arena_bytes(kGiB, 8, false) % 65536, 0U);
}

}  // namespace
}  // namespace rota::base

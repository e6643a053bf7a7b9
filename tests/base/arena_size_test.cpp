// Tests how large the arenas of ranks are, with and without limits.
#include "base/arena_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::base {
namespace {

using ::testing::HasSubstr;

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

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Arenas, AreAsLargeAsWantedWithoutALimit) {
  EXPECT_EQ(within_limits(64 * kMiB + 5, 4096, {}), 64 * kMiB + 5);
  EXPECT_EQ(shrinking_limit(64 * kMiB, 4096, {}), "");
  EXPECT_EQ(within_limits(64 * kMiB, 4, {.file_bytes = 64 * kMiB}), 64 * kMiB);
  EXPECT_EQ(shrinking_limit(64 * kMiB, 4, {.file_bytes = 64 * kMiB}), "");
}

// Each rank maps the arenas of all ranks, so its addresses must suffice for all of them.
TEST(Arenas, OfAllRanksTakeHalfOfTheAddresses) {
  const ArenaLimits limits{.address_bytes = 1600 * kMiB};
  EXPECT_EQ(within_limits(200 * kMiB, 4, limits), 200 * kMiB);
  EXPECT_EQ(within_limits(201 * kMiB, 4, limits), 200 * kMiB);
  EXPECT_EQ(within_limits(201 * kMiB, 3, limits), 201 * kMiB);
  EXPECT_EQ(within_limits(201 * kMiB, 7, limits), 114 * kMiB);  // 114.3 MiB in whole MiB.
  EXPECT_EQ(shrinking_limit(201 * kMiB, 4, limits), "-v");
  EXPECT_EQ(shrinking_limit(201 * kMiB, 3, limits), "");
}

TEST(Arenas, AreAsTheLowestLimitAllows) {
  const ArenaLimits limits{.file_bytes = 100'000'000, .address_bytes = 1600 * kMiB};
  EXPECT_EQ(within_limits(200 * kMiB, 4, limits), 95 * kMiB);
  EXPECT_EQ(shrinking_limit(200 * kMiB, 4, limits), "-f");
  EXPECT_EQ(within_limits(200 * kMiB, 16, limits), 50 * kMiB);
  EXPECT_EQ(shrinking_limit(200 * kMiB, 16, limits), "-v");
}

TEST(Arenas, AreNoneWhereALimitLeavesNoRoom) {
  const ArenaLimits short_file{.file_bytes = kMiB - 1};
  EXPECT_EQ(within_limits(kMiB, 2, short_file), 0U);
  EXPECT_THAT(lack_of_room(2, short_file), HasSubstr("1048575 bytes (ulimit -f)"));
  const ArenaLimits few_addresses{.address_bytes = 8 * kMiB - 1};
  EXPECT_EQ(within_limits(kMiB, 4, few_addresses), 0U);
  EXPECT_THAT(lack_of_room(4, few_addresses),
              HasSubstr("all 4 ranks here share, and the limit of 8388607 bytes of addresses "
                        "(ulimit -v) leaves no room for it: raise the limit"));
}

}  // namespace
}  // namespace rota::base

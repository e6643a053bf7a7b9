// Tests the message about a memory limit that is too low for the ranks of a host.
#include "communicator/memory_need.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr std::size_t kMebibyte = 1 << 20;

TEST(LackOfMemory, IsNoneWhereAllFitsOrNothingLimitsIt) {
  EXPECT_EQ(lack_of_memory(kMebibyte, 1000, std::nullopt, true), "");
  EXPECT_EQ(lack_of_memory(64 * kMebibyte, 2, 128 * kMebibyte, true), "");
}

TEST(LackOfMemory, CountsAllRanksOfTheHost) {
  EXPECT_EQ(lack_of_memory(65 * kMebibyte, 2, 128 * kMebibyte, true),
            "a buffer of 65 MiB on each of the 2 ranks here takes 130 MiB, but the memory limit is "
            "128 MiB: raise resources.limits.memory");
  EXPECT_EQ(lack_of_memory(65 * kMebibyte, 1, 64 * kMebibyte, false),
            "a buffer takes 65 MiB, but the memory limit is 64 MiB: raise the limit of the "
            "control group");
}

}  // namespace
}  // namespace rota

// Tests the conversion of numbers from peers and files into sizes of this machine.
#include "base/sizes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace rota::base {
namespace {

constexpr std::size_t kLast = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t kMany = std::numeric_limits<std::uint64_t>::max();

TEST(Sizes, AreTheNumberIfThisMachineCountsSoFar) {
  EXPECT_EQ(as_size(0), std::size_t{0});
  EXPECT_EQ(as_size(kLast), kLast);
  EXPECT_EQ(as_size(kMany).has_value(), sizeof(std::size_t) == sizeof(std::uint64_t));
  EXPECT_EQ(as_size((std::uint64_t{1} << 32) + 5).has_value(),
            sizeof(std::size_t) == sizeof(std::uint64_t));
}

TEST(Sizes, AreTheSmallerOfBoth) {
  EXPECT_EQ(at_most(7, 3), 3U);
  EXPECT_EQ(at_most(7, 7), 7U);
  EXPECT_EQ(at_most(7, (std::uint64_t{1} << 32) + 5), 7U);
  EXPECT_EQ(at_most(kLast, kMany), kLast);
}

}  // namespace
}  // namespace rota::base

// Tests which texts name a range of ports.
#include "base/port_range.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::base {
namespace {

TEST(PortRange, IsReadAsItIsWritten) {
  const auto range = port_range_from("7800-7899");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 7800);
  EXPECT_EQ(range->last, 7899);
  EXPECT_EQ(to_text(*range), "7800-7899");
  EXPECT_EQ(to_text(PortRange()), "7700-7955");
  EXPECT_TRUE(port_range_from("1-65535"));
  EXPECT_TRUE(port_range_from("7700-7700"));
}

TEST(PortRange, IsTwoPortsInAscendingOrder) {
  for (const std::string text : {"", "-", "7700", "7700-", "-7700", "7701-7700", "0-7700", "x-7700",
                                 "7700-65536", "7700-7701-7702", " 7700-7701", "+7700-7701"}) {
    EXPECT_FALSE(port_range_from(text)) << text;
  }
}

}  // namespace
}  // namespace rota::base

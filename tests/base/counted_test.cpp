// Tests counts with their nouns.
#include "base/counted.h"

#include <gtest/gtest.h>

namespace rota::base {
namespace {

TEST(Counted, HasThePluralUnlessTheCountIsOne) {
  EXPECT_EQ(counted(0, "process", "processes"), "0 processes");
  EXPECT_EQ(counted(1, "process", "processes"), "1 process");
  EXPECT_EQ(counted(2, "process", "processes"), "2 processes");
  EXPECT_EQ(counted_ranks(1), "1 rank");
  EXPECT_EQ(counted_samples(11), "11 samples");
}

}  // namespace
}  // namespace rota::base

// Numbers in names are compared as numbers.
#include "names/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace rota::names {
namespace {

TEST(Order, CountsPodsAsNumbers) {
  EXPECT_TRUE(comes_before("mnist-9", "mnist-10"));
  EXPECT_FALSE(comes_before("mnist-10", "mnist-9"));
  EXPECT_TRUE(comes_before("mnist-9.mnist.ml.svc", "mnist-10.mnist.ml.svc"));
  EXPECT_TRUE(comes_before("set-w-1-10.set", "set-w-2-9.set"));
  EXPECT_TRUE(comes_before("a-99999999999999999999999998", "a-99999999999999999999999999"));
}

// The order is total: every two names compare as their positions in the list do.
TEST(Order, IsOne) {
  const std::vector<std::string> sorted = {"",      "-",      "1",      "1-a",  "2",   "10",
                                           "a",     "a-",     "a-0",    "a-01", "a-1", "a-1.b",
                                           "a-2.b", "a-10.a", "a-10.b", "ab",   "b"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(comes_before(sorted[i], sorted[j]), i < j) << sorted[i] << " and " << sorted[j];
    }
  }
}

}  // namespace
}  // namespace rota::names

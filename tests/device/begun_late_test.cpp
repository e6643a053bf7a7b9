// A process begins to use devices in a child of a fork, if its parent had no library for them.
#include <gtest/gtest.h>

#include <string>

#include <rota/cuda_calls.h>

#include "device/calls.h"
#include "testing/error_of.h"
#include "testing/said_by_child.h"

namespace rota {
namespace {

TEST(DeviceCalls, BeginInAChildWhereTheParentHadNone) {
  const auto refusal = testing::error_of([] { device::calls(); });
  ASSERT_TRUE(refusal) << "this program has no library for devices";
  const auto said = testing::said_by_child([]() -> std::string {
    static constexpr cuda::Calls kCalls{.name = "a library"};
    cuda::use(kCalls);
    if (device::calls_in_use() != &kCalls) return "the library is not in use";
    const auto error = testing::error_of([] { device::calls(); });
    return error ? error->what() : "begins";
  });
  ASSERT_TRUE(said);
  EXPECT_EQ(*said, "begins");
}

}  // namespace
}  // namespace rota

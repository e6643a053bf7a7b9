// A rank of another rota, or with another layout of memory, is refused before any rank writes to
// shared memory. Method: a rank that only says so, beside a real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using ::testing::HasSubstr;

Result run_with_other(const std::string& what) {
  return run_rotarun(
      {"-np", "1", test_path("other_rank"), what, ":", "-np", "1", test_path("environment_rank")});
}

TEST(OtherRank, OfAnotherRotaIsRefused) {
  const Result result = run_with_other("rota");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(", but rank 0 has rota 99.1: link all programs with the same "
                                    "rota"));
}

TEST(OtherRank, WithAnotherLayoutOfMemoryIsRefused) {
  const Result result = run_with_other("memory");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              HasSubstr("little-endian program, but rank 0 is a 32-bit big-endian one: "
                        "they cannot share memory; start rotarun with --transport tcp"));
}

}  // namespace
}  // namespace rota::testing

// Test programs fail if they are asked for tests that they do not have.
#include <gtest/gtest.h>

#include <string>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

Result run_filtered(const std::string& program, const std::string& filter) {
  return run({.arguments = {program, "--gtest_filter=" + filter}});
}

TEST(RunsTests, AFilterThatMatchesNothingFails) {
  for (const std::string& program :
       {std::string("/proc/self/exe"), test_path("collectives_ranks"), test_path("groups_ranks")}) {
    const Result result = run_filtered(program, "RunsTests.IsNoNameOfOne");
    EXPECT_EQ(result.exit_code, 1) << program << "\n" << result.out << result.err;
    EXPECT_NE((result.out + result.err)
                  .find("no test of this program matches --gtest_filter=RunsTests.IsNoNameOfOne"),
              std::string::npos)
        << program << "\n"
        << result.out << result.err;
  }
}

TEST(RunsTests, AFilterThatMatchesSomethingDoesNot) {
  const Result result = run_filtered("/proc/self/exe", "RunsTests.Nothing");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(RunsTests, Nothing) {}

}  // namespace
}  // namespace rota::testing

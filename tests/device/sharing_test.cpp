// Two processes of a job use one device only if rotarun was told so. Otherwise the error names
// both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::Result;
using testing::run_rotarun;

Result run_ranks(std::vector<std::string> options, const std::string& when) {
  options.insert(options.end(), {testing::test_path("claiming_rank"), when});
  return run_rotarun(options);
}

TEST(DeviceSharing, NamesBothRanksOfADevice) {
  const Result result = run_ranks({"-np", "2"}, "after");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              ContainsRegex("rank 1 \\(pid [0-9]+\\) cannot use device 0 \\(fake GPU\\): rank 0 "
                            "\\(pid [0-9]+\\) of this job uses this device already; start at most "
                            "one rank for each device, or let ranks share devices with rotarun "
                            "--share-devices"));
}

TEST(DeviceSharing, IsFoundAtTheJoinToo) {
  const Result result = run_ranks({"-np", "2"}, "before");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, ContainsRegex("rank [01] \\(pid [0-9]+\\) cannot use device 0 \\(fake "
                                        "GPU\\): rank [01] \\(pid [0-9]+\\) of this job"));
}

TEST(DeviceSharing, IsPossibleIfItIsMeant) {
  for (const char* when : {"before", "after"}) {
    const Result result = run_ranks({"-np", "3", "--share-devices"}, when);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "3 ranks use one device\n");
  }
}

TEST(DeviceSharing, ForgetsARankWhoseDeviceDoesNotWork) {
  const Result result = run_ranks({"-np", "2"}, "broken");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 0 does not\n"));
  EXPECT_THAT(result.out, HasSubstr("rank 1 uses the device\n"));
}

TEST(DeviceSharing, DoesNotConcernOneRank) {
  EXPECT_EQ(run_ranks({"-np", "1"}, "after").out, "1 ranks use one device\n");
}

}  // namespace
}  // namespace rota

// Processes work with NCCL as threads do, and no failure of one of them lets the others hang.
// Method: ranks under rotarun, over the fake NCCL, with a deadline that is longer than each test
// may take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::Result;

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

// Runs three ranks, of which rank 1 is the victim. They outlive the first of them for a while.
Result run_ranks(const std::string& kind, const std::string& manner = "",
                 const std::string& deadline = "100", const std::string& transport = "tcp") {
  testing::Command command = testing::rotarun(
      {"-np", "3", "--share-devices", "--transport", transport, "--deadline", deadline, "--timeout",
       "60", "--grace", "5", testing::test_path("nccl_ranks"), kind, "1"});
  command.environment = {"FAKE_NCCL=" + manner};
  return testing::run(std::move(command));
}

TEST(NcclRanks, AddUpOnTheirDevices) {
  for (const char* transport : {"tcp", "shm"}) {
    const Result result = run_ranks("sums", "", "20", transport);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(count_of(result.out, "fine"), 3U) << result.out;
  }
}

TEST(NcclRanks, RefuseAnotherVersion) {
  const Result result = run_ranks("version");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err,
              HasSubstr("rank 1 was given plan nccl of NCCL 2.18.5, codec identity, but "
                        "rank 0 was given plan nccl of NCCL 2.28.9, codec identity"));
  EXPECT_EQ(count_of(result.err, "\ntold: mismatch: "), 3U) << result.err;
}

TEST(NcclRanks, TellAllThatARankHasNoNccl) {
  const Result result = run_ranks("none");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err,
              ContainsRegex("told: invalid argument: rank 1 \\(.*\\): the plan nccl: NCCL "
                            "cannot be opened: /nowhere/libnccl.so.2: cannot open"));
  EXPECT_THAT(result.err,
              ContainsRegex("told: aborted: rank 1 \\(.*\\): the plan nccl: NCCL cannot"));
}

TEST(NcclRanks, TellAllThatARankHasAnotherMajorVersion) {
  const Result result = run_ranks("major");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err,
              ContainsRegex("told: aborted: rank 1 \\(.*\\): the plan nccl: .* is NCCL "
                            "3.1.0, but rota works with NCCL 2; without NCCL, take plan"));
}

TEST(NcclRanks, TellAllThatARankHasNoLibraryForDevices) {
  const Result result = run_ranks("no-device");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err,
              ContainsRegex("told: aborted: rank 1 \\(.*\\): the plan nccl is for values on "
                            "devices, but this program has no library for devices"));
}

// NCCL hangs: over shared memory the ranks compare, otherwise the coordinator does, after 100 ms.
TEST(NcclRanks, FindDifferentCalls) {
  for (const char* transport : {"tcp", "shm"}) {
    for (const char* kind : {"counts", "host"}) {
      SCOPED_TRACE(std::string(transport) + ", " + kind);
      const Result result = run_ranks(kind, "", "100", transport);
      EXPECT_EQ(result.exit_code, 5) << result.err;
      EXPECT_EQ(count_of(result.err, "\ntold: mismatch: "), 3U) << result.err;
      EXPECT_THAT(result.err, HasSubstr("all_reduce #3 of 5000 float32 (sum, nccl)"));
    }
  }
}

// NCCL notices nothing, or reports a remote error. Rank 1 is killed after its second call, in which
// another rank may still be.
TEST(NcclRanks, NameARankThatWasKilled) {
  for (const char* manner : {"", "hears_of_ends=1"}) {
    SCOPED_TRACE(manner);
    const Result result = run_ranks("kill", manner);
    EXPECT_EQ(result.exit_code, 137) << result.err;
    EXPECT_THAT(result.err,
                ContainsRegex("told: (peer lost|aborted): rank [02] \\(.*\\): all_reduce #[23] "
                              ".* rank 1 .*was killed by SIGKILL"));
  }
}

TEST(NcclRanks, NameARankThatLeaves) {
  const Result result = run_ranks("leaves");
  EXPECT_EQ(result.exit_code, 79) << result.err;
  EXPECT_THAT(result.err,
              ContainsRegex("told: (peer lost|aborted): rank [02] .*rank 1 \\(.*\\).*, but "
                            "it exited with code 0"));
}

// Ranks that wait for each other do not know which of them is missing. The coordinator does.
TEST(NcclRanks, EndAtTheDeadlineAndNameTheRankThatStaysAway) {
  const Result result = run_ranks("sleeps", "", "1");
  EXPECT_THAT(result.err,
              ContainsRegex("told: (timeout|aborted): rank [02] \\(.*\\): all_reduce #3 of "
                            "5000 float32 \\(sum, nccl\\) in the memory of device 0: .*"
                            "(from|for) rank 1 "));
  EXPECT_THAT(result.err, HasSubstr("rotarun: rank 1"));
}

TEST(NcclRanks, EndWhenAnOperationHangs) {
  const Result result = run_ranks("stuck", "stuck_at=3", "1");
  EXPECT_TRUE(result.was_in_time);
  EXPECT_EQ(count_of(result.err, "\ntold: "), 3U) << result.err;
  EXPECT_THAT(result.err, HasSubstr("all_reduce #3"));
}

TEST(NcclRanks, EndWhenAnErrorComesLate) {
  const Result result = run_ranks("late", "fails_on=2,fails_at=3,fails_with=2");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("told: aborted: rank 2 \\(.*\\): all_reduce #3 .*: NCCL's "
                                        "all_reduce failed on device 0: unhandled system error: an "
                                        "error that comes late \\(NCCL error 2\\)"));
}

TEST(NcclRanks, EndWhenTheAbortHangs) {
  const Result result = run_ranks("abort-hangs", "stuck_at=3,abort_hangs=1", "1");
  EXPECT_TRUE(result.was_in_time);
  EXPECT_THAT(result.err,
              ContainsRegex("rota: rank [012] \\(.*\\): NCCL did not abort its communicator "
                            "on device 0 within 1 s: this process ends"));
}

TEST(NcclRanks, EndWhenTheDestructionHangs) {
  const Result result = run_ranks("sums", "destroy_hangs=1", "5");
  EXPECT_TRUE(result.was_in_time);
  EXPECT_THAT(result.err,
              HasSubstr("NCCL did not destroy its communicator on device 0 within 7 s"));
}

// A rank that is alone takes the plan nccl with NCCL and without.
TEST(NcclRanks, WorkAlone) {
  for (const char* kind : {"sums", "alone"}) {
    testing::Command command{.arguments = {testing::test_path("nccl_ranks"), kind}};
    const Result result = testing::run(std::move(command));
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

}  // namespace
}  // namespace rota

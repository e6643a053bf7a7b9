// On a system that lacks a call, rotarun says so. It goes on if it can: emulators of processes do
// not let a process adopt orphans. Method: a filter of system calls (without_call.cpp).
#include <signal.h>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

class WithoutCalls : public Launched {
 protected:
  static testing::Command without(const std::string& call, std::vector<std::string> arguments) {
    testing::Command command = rotarun(std::move(arguments));
    command.arguments.insert(command.arguments.begin(), {test_path("without_call"), call});
    return command;
  }
};

const std::string kWarning =
    "rotarun: warning: this system does not let rotarun adopt orphans (PR_SET_CHILD_SUBREAPER): a "
    "process whose parent ends before it may outlive the job\n";

TEST_F(WithoutCalls, AJobRunsWhereOrphansCannotBeAdopted) {
  const Result result = run(without("subreaper", {"-np", "2", kSum}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 1 of 2 by rotarun -np 2: 3\n"));
  EXPECT_EQ(result.err, kWarning) << "it is said once";
}

TEST_F(WithoutCalls, AFailureEndsTheRanksWhereOrphansCannotBeAdopted) {
  const Result result = run(
      without("subreaper", script({"-np", "2"}, "[ $ROTA_RANK = 0 ] && exit 3; exec sleep 60")));
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr(kWarning));
}

TEST_F(WithoutCalls, AKilledLauncherTakesItsRanksAlongWhereOrphansCannotBeAdopted) {
  Process process(without("subreaper", script({"-np", "2"}, "echo ready; exec sleep 60")));
  ASSERT_TRUE(process.wait_for("ready"));
  process.signal(SIGKILL);
  process.wait();
  EXPECT_TRUE(testing::all_gone_within(seconds(8)));
}

TEST_F(WithoutCalls, AKernelWithoutMemoryFilesIsNamed) {
  const Result result = run(without("memfd", {"-np", "2", kSum}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("memfd_create: Function not implemented; rota needs Linux 3.17 "
                                    "or later"));
}

}  // namespace
}  // namespace rota::launcher

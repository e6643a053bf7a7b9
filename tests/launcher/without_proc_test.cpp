// Without /proc, a job also leaves no process behind, and does not take longer to end. Method:
// rotarun runs in a mount namespace where an empty directory covers /proc.
#include <signal.h>

#include "launcher/launched.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

// If rotarun could not find the processes without /proc, it would try for more than ten seconds.
constexpr auto kMostTime = seconds(8);

// A child, a child in another session that ignores every signal that can be ignored, and a
// grandchild whose parent has ended.
constexpr const char* kRelatives =
    "sleep 60 & "
    "setsid sh -c 'trap \"\" TERM INT HUP; sleep 60; sleep 60' & "
    "sh -c 'sleep 60 & exit 0'; "
    "echo ready; ";

// Returns the command for a mount namespace where an empty directory covers /proc.
testing::Command without_proc(testing::Command command) {
  command.arguments.insert(command.arguments.begin(),
                           {"/usr/bin/unshare", "-m", "/bin/sh", "-c",
                            "mount -t tmpfs none /proc && exec \"$@\"", "sh"});
  return command;
}

class WithoutProc : public Launched {
 protected:
  void SetUp() override {
#if defined(ROTA_IS_SANITIZED)
    GTEST_SKIP() << "a sanitizer needs /proc itself";
#endif
    const Result tried = run(without_proc({.arguments = {"/bin/true"}}));
    if (tried.exit_code != 0) GTEST_SKIP() << "no tmpfs can be mounted here: " << tried.err;
  }

  static testing::Command hidden(const std::string& last_words,
                                 std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"-np", "2", "--grace", "0.5"});
    return without_proc(rotarun(script(std::move(options), kRelatives + last_words)));
  }

  static void expect_end(Process& process, int exit_code) {
    const Result result = process.wait(kMostTime);
    EXPECT_TRUE(result.was_in_time);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("could not be ended")));
  }
};

TEST_F(WithoutProc, AFailureLeavesNothing) {
  Process process(hidden("[ $ROTA_RANK = 0 ] && exit 3; wait"));
  expect_end(process, 3);
}

TEST_F(WithoutProc, ASignalLeavesNothing) {
  Process process(hidden("wait"));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  process.signal(SIGTERM);
  expect_end(process, 143);
}

TEST_F(WithoutProc, ATimeoutLeavesNothing) {
  Process process(hidden("wait", {"--timeout", "0.5"}));
  expect_end(process, 124);
}

TEST_F(WithoutProc, AKilledInnerProcessLeavesNothing) {
  Process process(hidden("wait"));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  ::kill(os::descendants_of(process.pid()).at(0), SIGKILL);
  expect_end(process, 137);
}

}  // namespace
}  // namespace rota::launcher

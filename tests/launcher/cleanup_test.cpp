// No process of a job stays behind, however the job ends, and even when rotarun is killed.
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "launcher/launched.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

// A rank with children of every kind: one in the background, one in a session of its own, a
// grandchild whose parent has ended, and one that ignores every signal that can be ignored.
constexpr const char* kFamily =
    "sleep 60 & "
    "setsid sleep 60 & "
    "sh -c 'sleep 60 & exit 0'; "
    "sh -c 'trap \"\" TERM INT HUP; sleep 60; sleep 60' & "
    "echo ready; ";

class CleanUp : public Launched {
 protected:
  static std::vector<std::string> family(const std::string& last_words,
                                         std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"-np", "2"});
    return script(std::move(options), kFamily + last_words);
  }

  // Returns the inner process of rotarun, which runs the job.
  static pid_t inner_process(const Process& process) {
    const auto descendants = os::descendants_of(process.pid());
    return descendants.empty() ? -1 : descendants.front();
  }

  // Expects rotarun's inner process, and for each rank seven more: its keeper, the rank and its
  // five relatives.
  static void wait_for_family(const Process& process) {
    const auto count = [&] { return os::descendants_of(process.pid()).size(); };
    for (int trial = 0; trial < 1000 && count() < 1 + 2 * 7; ++trial) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    ASSERT_EQ(count(), 1U + 2 * 7);
  }

  // Kills both processes of rotarun. Method: the outer process is stopped first; otherwise it could
  // end the job between the two kills.
  static void kill_both(Process& process, bool is_outer_first) {
    const pid_t inner = inner_process(process);
    process.signal(is_outer_first ? SIGKILL : SIGSTOP);
    ::kill(inner, SIGKILL);
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().signal, SIGKILL);
  }
};

TEST_F(CleanUp, LeavesNothingWhenAllEndsWell) {
  EXPECT_EQ(run_rotarun(family("exit 0")).exit_code, 0);
}

// A process that a rank has detached may be meant to go on, for example to copy a file.
TEST_F(CleanUp, NamesWhatStillRunsWhenAllEndsWell) {
  const Result result = run_rotarun(script({"-np", "2"}, "setsid sleep 60 & exit 0"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, ::testing::StartsWith(
                              "rotarun: the job has ended, and rotarun has ended processes that "
                              "still ran: sleep (pid "));
  EXPECT_THAT(result.err, HasSubstr(") of rank 0"));
  EXPECT_THAT(result.err, HasSubstr(") of rank 1"));
  EXPECT_THAT(result.err,
              ::testing::EndsWith("; a rank should wait for its children before it ends\n"));
}

TEST_F(CleanUp, NamesNoProcessThatEndsWithItsRank) {
  EXPECT_EQ(run_rotarun(script({"-np", "2"}, "true & exit 0")).err, "");
  EXPECT_THAT(run_rotarun(script({"-np", "2"}, "sleep 60 & exit 3")).err,
              Not(HasSubstr("still ran")));
}

TEST_F(CleanUp, LeavesNothingWhenARankFails) {
  EXPECT_EQ(run_rotarun(family("[ $ROTA_RANK = 0 ] && exit 3; wait")).exit_code, 3);
}

TEST_F(CleanUp, LeavesNothingWhenARankIsKilled) {
  EXPECT_EQ(run_rotarun(family("[ $ROTA_RANK = 0 ] && kill -KILL $$; wait")).exit_code, 137);
}

TEST_F(CleanUp, LeavesNothingAtTheTimeout) {
  EXPECT_EQ(run_rotarun(family("wait", {"--timeout", "0.5"})).exit_code, 124);
}

TEST_F(CleanUp, LeavesNothingAfterSignals) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Process process(rotarun(family("wait")));
    ASSERT_TRUE(process.wait_for("ready\nready\n"));
    process.signal(number);
    EXPECT_EQ(process.wait().exit_code, 128 + number);
    EXPECT_TRUE(testing::all_gone_within(milliseconds(0)));
  }
}

// Method: the test kills the outer process and adopts the inner process. The inner process has to
// end the job and itself, whatever --grace says.
TEST_F(CleanUp, LeavesNothingWhenTheOuterProcessIsKilled) {
  for (int trial = 0; trial < 3; ++trial) {
    Process process(rotarun(family("wait", {"--grace", "60"})));
    ASSERT_TRUE(process.wait_for("ready\nready\n"));
    wait_for_family(process);
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().signal, SIGKILL);
    EXPECT_TRUE(testing::all_gone_within(seconds(5)));
  }
}

// Method: a stopped inner process cannot react to the end of the outer process until a keeper wakes
// it. The test stops the inner process before or after the kill.
TEST_F(CleanUp, LeavesNothingWhenTheOuterProcessIsKilledAndTheInnerOneStopped) {
  for (int trial = 0; trial < 6; ++trial) {
    Process process(rotarun(family("wait", {"--grace", "60"})));
    ASSERT_TRUE(process.wait_for("ready\nready\n"));
    wait_for_family(process);
    const pid_t inner = inner_process(process);
    if (trial % 2 == 0) ::kill(inner, SIGSTOP);
    process.signal(SIGKILL);
    ::kill(inner, SIGSTOP);
    EXPECT_EQ(process.wait().signal, SIGKILL);
    EXPECT_TRUE(testing::all_gone_within(seconds(5))) << "trial " << trial;
  }
}

TEST_F(CleanUp, LeavesNothingWhenTheInnerProcessIsKilled) {
  for (int trial = 0; trial < 3; ++trial) {
    Process process(rotarun(family("wait")));
    ASSERT_TRUE(process.wait_for("ready\nready\n"));
    wait_for_family(process);
    ::kill(inner_process(process), SIGKILL);
    const Result result = process.wait();
    EXPECT_EQ(result.exit_code, 137);
    EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL; the job was ended\n"));
    EXPECT_TRUE(testing::all_gone_within(milliseconds(0)));
  }
}

// Method: of rotarun's own processes, the kills leave only the keepers of the ranks. The keepers
// must end the ranks, what the ranks have started, and themselves.
TEST_F(CleanUp, LeavesNothingWhenBothProcessesAreKilled) {
  for (int trial = 0; trial < 10; ++trial) {
    Process process(rotarun(family("wait")));
    ASSERT_TRUE(process.wait_for("ready\nready\n"));
    wait_for_family(process);
    kill_both(process, trial % 2 == 0);
    EXPECT_TRUE(testing::all_gone_within(seconds(5)));
  }
}

TEST_F(CleanUp, LeavesNothingOfAnOrdinaryUserWhenBothAreKilled) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const std::string program = folder_ + "/rotarun";  // Every user may read it there.
  std::filesystem::copy_file(testing::rotarun_path(), program);
  for (int trial = 0; trial < 10; ++trial) {
    testing::Command command = rotarun(family("wait"));
    command.arguments.front() = program;
    command.arguments.insert(command.arguments.begin(), {"/usr/bin/setpriv", "--reuid=65534",
                                                         "--regid=65534", "--clear-groups"});
    command.directory = "/";
    Process process(std::move(command));
    ASSERT_TRUE(process.wait_for("ready\nready\n"));
    wait_for_family(process);
    kill_both(process, trial % 2 == 0);
    EXPECT_TRUE(testing::all_gone_within(seconds(5)));
  }
}

// Method: each trial kills rotarun after a longer delay, from before the first rank starts until
// after the last rank has started.
TEST_F(CleanUp, LeavesNothingWhenItIsKilledWhileItStarts) {
  for (int delay = 0; delay < 40; ++delay) {
    Process process(rotarun({"-np", "8", "sleep", "60"}));
    std::this_thread::sleep_for(std::chrono::microseconds(delay * 250));
    if (delay % 2 == 0) {
      process.signal(SIGKILL);
    } else if (const pid_t inner = inner_process(process); inner > 0) {
      ::kill(inner, SIGKILL);
    } else {
      process.signal(SIGTERM);
    }
    EXPECT_TRUE(process.wait().was_in_time);
    EXPECT_TRUE(testing::all_gone_within(seconds(5))) << "delay " << delay;
  }
}

TEST_F(CleanUp, EndsStoppedRanksToo) {
  Process process(rotarun(
      script({"-np", "2"}, "echo ready; [ $ROTA_RANK = 1 ] && kill -STOP $$; exec sleep 60")));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 143);
}

TEST_F(CleanUp, WakesASuspendedInnerProcessToEndTheJob) {
  Process process(rotarun(script({"-np", "2"}, "echo ready; exec sleep 60")));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  ::kill(inner_process(process), SIGSTOP);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 143);
}

TEST_F(CleanUp, EndsTheJobWhereTheInnerProcessIsStopped) {
  Process process(rotarun(family("wait")));
  wait_for_family(process);
  ::kill(inner_process(process), SIGSTOP);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 201);
  EXPECT_THAT(result.err, HasSubstr("was stopped, or hung, for about 5 s; the job was ended\n"));
}

TEST_F(CleanUp, LetsAShellsChildEndInOrder) {
  const std::string file = folder_ + "/saved";
  Process process(rotarun(script({"-np", "1", "--grace", "10"},
                                 "sh -c 'trap \"echo saved > " + file +
                                     "; exit\" TERM; echo ready; while :; do sleep 0.05; done'; "
                                     "true")));
  ASSERT_TRUE(process.wait_for("ready\n"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 143);
  std::string word;
  std::ifstream(file) >> word;
  EXPECT_EQ(word, "saved");
}

TEST_F(CleanUp, LeavesNoZombieWhileRanksComeAndGo) {
  Process process(rotarun(script(
      {"-np", "3"}, "[ $ROTA_RANK = 0 ] && echo ready && exec sleep 60; sh -c 'true & exit 0'")));
  ASSERT_TRUE(process.wait_for("ready\n"));
  const auto has_zombie = [&] {
    for (const pid_t pid : os::descendants_of(process.pid())) {
      if (testing::state_of(pid) == 'Z') return true;
    }
    return false;
  };
  bool is_clean = false;
  for (int trial = 0; trial < 500 && !is_clean; ++trial) {
    is_clean = os::descendants_of(process.pid()).size() == 3 && !has_zombie();
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(is_clean);
  process.signal(SIGTERM);
  process.wait();
}

}  // namespace
}  // namespace rota::launcher

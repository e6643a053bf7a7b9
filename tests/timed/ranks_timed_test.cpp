// Measures how soon a job on one host ends after a failure, a timeout or a signal, as promised in
// docs/exit_codes.md.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <tuple>

#include "hosts/across_hosts.h"
#include "testing/own_ports.h"
#include "testing/paths.h"
#include "timed/promised.h"

namespace rota::testing {
namespace {

// The time promised for failures after which ranks end when they are asked to, or on their own.
constexpr seconds kEnds{1};
constexpr seconds kDeadline{1};
constexpr milliseconds kGrace{500};

struct Harm {
  const char* kind;
  int exit_code;
  Clock::duration promise;  // From the harm to the end of the job.
};

constexpr Harm kHarms[] = {
    {"kill", 137, kEnds},
    {"segv", 139, kEnds},
    {"exit3", 3, kEnds},
    {"exit0", 79, kEnds},
    {"stop", 201, kDeadline + kGrace},
};

class HarmIsNoticed : public ::testing::TestWithParam<std::tuple<Harm, const char*>> {};

TEST_P(HarmIsNoticed, AndTheJobEndsInTime) {
  const auto& [harm, transport] = GetParam();
  const std::string in_the_middle = "20000";
  const Result result = run_rotarun({"-np", "3", "--transport", transport, "--deadline", "1",
                                     test_path("fault_ranks"), harm.kind, "1", in_the_middle});
  expect_promise(harm_in(result.err), harm.promise, harm.kind);
  EXPECT_EQ(result.exit_code, harm.exit_code) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Harms, HarmIsNoticed,
                         ::testing::Combine(::testing::ValuesIn(kHarms),
                                            ::testing::Values("shm", "tcp")),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param).kind) + "_" +
                                  std::get<1>(instance.param);
                         });

TEST(JobEndsInTime, WhenItsTimeoutHasPassed) {
  const auto start = Clock::now();
  EXPECT_EQ(run_rotarun({"-np", "2", "--timeout", "0.3", "sleep", "1000"}).exit_code, 124);
  expect_promise(start, milliseconds(300) + kEnds, "a timeout of 0.3 s");
}

TEST(JobEndsInTime, WhenItIsAskedTo) {
  Process job(rotarun({"-np", "2", "/bin/sh", "-c", "echo ready; exec sleep 1000"}));
  ASSERT_TRUE(job.wait_for("ready\nready\n"));
  const auto asked = Clock::now();
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143);
  expect_promise(asked, kEnds, "SIGTERM");
}

// rotarun's own processes are killed or stopped, and ranks end only by SIGKILL.
class RotarunIsHarmed : public ::testing::Test {
 protected:
  RotarunIsHarmed() {
    adopt_orphans();
    for (const char* ready : {"ready 0\n", "ready 1\n"}) EXPECT_TRUE(job_.wait_for(ready));
    const std::size_t at = job_.out().find("inner ");
    inner_ = at == std::string::npos ? -1 : std::stoi(job_.out().substr(at + 6));
  }

  static void expect_all_gone(Clock::time_point since, Clock::duration promise,
                              const std::string& what) {
    EXPECT_TRUE(all_gone_within(kMostOfAPromise * promise)) << what;
    expect_promise(since, promise, what);
  }

  static constexpr milliseconds kShortGrace{500};  // Whatever --grace says.

  Process job_{rotarun({"-np", "2", "--grace", "100", "/bin/sh", "-c",
                        "[ $ROTA_RANK = 1 ] || { " + kSayInner +
                            "}; trap '' TERM INT; echo ready $ROTA_RANK; "
                            "while :; do sleep 0.05; done"})};
  pid_t inner_ = -1;  // The inner process; the outer process is job_.
};

TEST_F(RotarunIsHarmed, WhereItsOuterProcessIsKilled) {
  const auto killed = Clock::now();
  job_.signal(SIGKILL);
  EXPECT_EQ(job_.wait().signal, SIGKILL);
  expect_all_gone(killed, kShortGrace, "an outer process that is killed");
}

// A keeper wakes the inner process twice a second.
TEST_F(RotarunIsHarmed, WhereItsOuterProcessIsKilledAndTheInnerOneIsStopped) {
  ::kill(inner_, SIGSTOP);
  const auto killed = Clock::now();
  job_.signal(SIGKILL);
  EXPECT_EQ(job_.wait().signal, SIGKILL);
  expect_all_gone(killed, milliseconds(500) + kShortGrace, "an outer process that is killed");
}

TEST_F(RotarunIsHarmed, WhereItsInnerProcessIsStopped) {
  const auto stopped = Clock::now();
  ::kill(inner_, SIGSTOP);
  EXPECT_EQ(job_.wait().exit_code, 201) << job_.err();
  EXPECT_NE(job_.err().find("was stopped, or hung, for about 5 s"), std::string::npos)
      << job_.err();
  expect_all_gone(stopped, seconds(5), "an inner process that is stopped");
}

// Method: one of the first processes that start writes a file, and the last one writes another
// file.
class JobThatStartsEndsInTime : public ::testing::Test {
 protected:
  JobThatStartsEndsInTime() { std::filesystem::create_directories(folder_); }
  ~JobThatStartsEndsInTime() override { std::filesystem::remove_all(folder_); }

  void expect_end_by(int signal, Process job, const std::string& what) {
    const auto give_up = Clock::now() + seconds(30);
    while (!std::filesystem::exists(early_) && Clock::now() < give_up) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    const auto asked = Clock::now();
    job.signal(signal);
    const Result result = job.wait();
    expect_promise(asked, kEnds, what);
    EXPECT_EQ(result.exit_code, 128 + signal) << result.err;
    EXPECT_TRUE(std::filesystem::exists(early_));
    EXPECT_FALSE(std::filesystem::exists(last_)) << "the start was over before " << what;
  }

  // Returns how many processes can be started if each takes `descriptors` of this test's
  // descriptors.
  static std::size_t most_of(std::size_t count, std::size_t descriptors) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return std::min<std::size_t>(count, (limit.rlim_max - 100) / descriptors);
  }

  const std::string folder_ = ::testing::TempDir() + "timed_start_" + std::to_string(::getpid());
  const std::string early_ = folder_ + "/early";
  const std::string last_ = folder_ + "/last";
};

TEST_F(JobThatStartsEndsInTime, WhileItStartsRanks) {
  const std::size_t count = most_of(kManyRanks, 7);
  const std::string script = "case $ROTA_RANK in " + std::to_string(count / 4) + ") : >" + early_ +
                             ";; " + std::to_string(count - 1) + ") : >" + last_ +
                             ";; esac; exec sleep 1000";
  expect_end_by(
      SIGTERM,
      Process(rotarun({"-np", std::to_string(count), "--oversubscribe", "/bin/sh", "-c", script})),
      "SIGTERM while ranks start");
}

TEST_F(JobThatStartsEndsInTime, WhileItStartsAgents) {
  const std::size_t count = most_of(kManyRanks, 2);
  const auto address = [](std::size_t host) {
    return "198.18." + std::to_string(host / 256) + "." + std::to_string(host % 256);
  };
  std::string hosts;
  for (std::size_t host = 0; host < count; ++host) hosts += (host ? "," : "") + address(host);
  const std::string agent = folder_ + "/agent";
  std::ofstream(agent) << "#!/bin/sh\ncase $1 in " << address(count / 4) << ") : >" << early_
                       << ";; " << address(count - 1) << ") : >" << last_
                       << ";; esac; exec cat >/dev/null\n";
  std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
  const OwnPorts ports;
  expect_end_by(SIGINT,
                Process(rotarun({"-H", hosts, "--address", "127.0.0.1", "--ports", ports.range(),
                                 "--agent", agent + " {host}", "true"})),
                "SIGINT while agents start");
}

TEST(JobEndsInTime, WhenARankDoesNotEndBySigterm) {
  const std::string deaf = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
  const std::string failing = "while ! [ -e \"$0\" ]; do sleep 0.01; done; exit 3";
  const std::string file = ::testing::TempDir() + "timed_" + std::to_string(::getpid());
  Process job(rotarun(
      {"-np", "2", "/bin/sh", "-c", "[ $ROTA_RANK = 0 ] || { " + failing + "; }; " + deaf, file}));
  ASSERT_TRUE(job.wait_for("ready\n"));
  const auto failed = Clock::now();
  std::ofstream(file) << "\n";
  EXPECT_EQ(job.wait().exit_code, 3);
  expect_promise(failed, kEnds + kGrace, "a rank that is deaf");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace rota::testing

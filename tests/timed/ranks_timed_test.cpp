// How soon a job of one host has ended after a failure, a timeout or a signal: docs/exit_codes.md.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include "testing/paths.h"
#include "timed/promised.h"

namespace rota::testing {
namespace {

// Of ranks that end when they are asked to, or by themselves.
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

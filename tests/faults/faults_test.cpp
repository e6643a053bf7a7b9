// A rank fails at a random moment: the job ends with the documented code, names that rank, and
// leaves nothing behind. tests/timed measures how soon the job ends. Method: real ranks under
// rotarun (fault_ranks), and one of them kills or stops itself. The seed picks the victim and the
// moment.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <tuple>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using std::chrono::seconds;
using testing::Result;

struct Harm {
  const char* kind;
  int exit_code;
  const char* words;  // What rotarun says after the rank's number.
};

constexpr Harm kHarms[] = {
    {"kill", 137, "was killed by SIGKILL"},
    {"segv", 139, "SIGSEGV"},
    {"exit3", 3, "exited with code 3"},
    {"exit0", 79, "exited with code 0"},
    {"stop", 201, "is silent"},
};

class FaultsTest : public ::testing::TestWithParam<std::tuple<Harm, const char*>> {
 protected:
  void SetUp() override { testing::adopt_orphans(); }

  void expect_end(const Harm& harm, const std::string& transport, std::size_t world_size,
                  std::size_t victim, const std::string& moment) {
    SCOPED_TRACE("rotarun -np " + std::to_string(world_size) + " --transport " + transport +
                 " fault_ranks " + harm.kind + " " + std::to_string(victim) + " " + moment);
    const Result result = testing::run_rotarun(
        {"-np", std::to_string(world_size), "--transport", transport, "--deadline", "1",
         testing::test_path("fault_ranks"), harm.kind, std::to_string(victim), moment});
    EXPECT_EQ(result.exit_code, harm.exit_code) << result.err;
    EXPECT_NE(result.err.find("rotarun: rank " + std::to_string(victim) + " (pid "),
              std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find(harm.words), std::string::npos) << result.err;
    EXPECT_TRUE(testing::all_gone_within(seconds(0))) << "a process was left behind";
  }
};

TEST_P(FaultsTest, InTheMiddleOfAllReduces) {
  const auto& [harm, transport] = GetParam();
  std::mt19937 random(20260101);
  for (int trial = 0; trial < 6; ++trial) {
    const std::size_t world_size = 2 + random() % 3;
    const std::size_t victim = random() % world_size;
    const std::size_t microseconds = random() % 100000;
    expect_end(harm, transport, world_size, victim, std::to_string(microseconds));
  }
}

TEST_P(FaultsTest, BeforeItHasJoined) {
  const auto& [harm, transport] = GetParam();
  for (std::size_t victim = 0; victim < 3; ++victim) {
    expect_end(harm, transport, 3, victim, "join");
  }
}

// The same tests are also a program of their own for ranks over MPI.
#if defined(ROTA_OVER_MPI)
const auto kTransports = ::testing::Values("mpi");
#else
const auto kTransports = ::testing::Values("shm", "tcp");
#endif

INSTANTIATE_TEST_SUITE_P(Harms, FaultsTest,
                         ::testing::Combine(::testing::ValuesIn(kHarms), kTransports),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param).kind) + "_" +
                                  std::get<1>(instance.param);
                         });

}  // namespace
}  // namespace rota

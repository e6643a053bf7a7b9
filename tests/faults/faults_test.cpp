// A rank comes to harm at a random moment: the job ends in time, with the code that is documented,
// naming that rank, and leaves nothing behind.
// Method: real ranks under rotarun (fault_ranks), one of which harms itself. The seed picks victim
// and moment. Bounds are five times what users are promised.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <tuple>

#include "testing/process.h"

namespace rota {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Result;

struct Harm {
  const char* kind;
  int exit_code;
  milliseconds promise;  // From the harm to the end of the job.
  const char* words;     // What rotarun says, beside the rank's number.
};

constexpr seconds kDeadline{1};
constexpr milliseconds kGrace{500};

constexpr Harm kHarms[] = {
    {"kill", 137, milliseconds(1000), "was killed by SIGKILL"},
    {"segv", 139, milliseconds(1000), "SIGSEGV"},
    {"exit3", 3, milliseconds(1000), "exited with code 3"},
    {"exit0", 79, milliseconds(1000), "exited with code 0"},
    {"stop", 201, kDeadline + kGrace, "is silent"},
};

class FaultsTest : public ::testing::TestWithParam<std::tuple<Harm, const char*>> {
 protected:
  void SetUp() override { testing::adopt_orphans(); }

  void expect_end(const Harm& harm, const std::string& transport, std::size_t world_size,
                  std::size_t victim, const std::string& moment, milliseconds until_harm) {
    SCOPED_TRACE("rotarun -np " + std::to_string(world_size) + " --transport " + transport +
                 " fault_ranks " + harm.kind + " " + std::to_string(victim) + " " + moment);
    const Result result = testing::run_rotarun(
        {"-np", std::to_string(world_size), "--transport", transport, "--deadline", "1",
         ROTA_TEST_DIR "/fault_ranks", harm.kind, std::to_string(victim), moment});
    EXPECT_EQ(result.exit_code, harm.exit_code) << result.err;
    EXPECT_LT(result.took, until_harm + 5 * harm.promise) << result.err;
    EXPECT_NE(result.err.find("rotarun: rank " + std::to_string(victim) + " (pid "),
              std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find(harm.words), std::string::npos) << result.err;
    EXPECT_TRUE(testing::all_gone_within(seconds(1)));
  }
};

TEST_P(FaultsTest, InTheMiddleOfAllReduces) {
  const auto& [harm, transport] = GetParam();
  std::mt19937 random(20260101);
  for (int trial = 0; trial < 6; ++trial) {
    const std::size_t world_size = 2 + random() % 3;
    const std::size_t victim = random() % world_size;
    const std::chrono::microseconds moment(random() % 100000);
    expect_end(harm, transport, world_size, victim, std::to_string(moment.count()),
               std::chrono::duration_cast<milliseconds>(moment));
  }
}

TEST_P(FaultsTest, BeforeItHasJoined) {
  const auto& [harm, transport] = GetParam();
  for (std::size_t victim = 0; victim < 3; ++victim) {
    expect_end(harm, transport, 3, victim, "join", milliseconds(0));
  }
}

INSTANTIATE_TEST_SUITE_P(Harms, FaultsTest,
                         ::testing::Combine(::testing::ValuesIn(kHarms),
                                            ::testing::Values("shm", "tcp")),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param).kind) + "_" +
                                  std::get<1>(instance.param);
                         });

}  // namespace
}  // namespace rota

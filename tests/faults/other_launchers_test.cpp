// Without rotarun, a rank fails too: nobody hangs, the launcher ends with a code other than 0, and
// nothing is left behind. Where no launcher ends the other ranks, they name the rank that failed.
// Method: three real ranks (fault_ranks) under the mpirun of Open MPI, under that of MPICH, and
// with the variables of torchrun, without its agent. The seed picks the victim and the moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testing/leaks_of_others.h"
#include "testing/own_ports.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::Process;
using testing::Result;
using Words = std::vector<std::string>;

constexpr std::size_t kRanks = 3;
constexpr const char* kKinds[] = {"kill", "exit3", "exit0", "abort", "stop"};

struct Harm {
  std::string kind;
  std::size_t victim = 0;
  std::string moment;
};

// Returns harms to each rank: one in the middle of all-reduces, and one before the rank has joined.
std::vector<Harm> harms_of(const std::string& kind) {
  std::mt19937 random(20260102);
  std::vector<Harm> harms;
  for (std::size_t victim = 0; victim < kRanks; ++victim) {
    harms.push_back({kind, victim, std::to_string(random() % 100000)});
    const bool needs_communicator = kind == "abort";
    if (!needs_communicator) harms.push_back({kind, victim, "join"});
  }
  return harms;
}

class FaultsOfOtherLaunchers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { testing::adopt_orphans(); }

  // Shows that the victim came to harm. MPICH's mpirun may end with an assertion of its own before
  // it passes on what the victim has printed.
  static std::string harm_file() {
    return ::testing::TempDir() + "harm_" + std::to_string(::getpid());
  }

  // Others need time to join, unless the victim never does.
  static Command command(Words words, const Harm& harm) {
    words.insert(words.end(), {testing::test_path("fault_ranks"), harm.kind,
                               std::to_string(harm.victim), harm.moment});
    const std::string join = harm.moment == "join" ? "3" : "60";
    return {.arguments = std::move(words),
            .environment = {"HARM_FILE=" + harm_file(), "OMPI_ALLOW_RUN_AS_ROOT=1",
                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "HOME=" + ::testing::TempDir(),
                            "ROTA_KEY_FILE=", "DEADLINE_SECONDS=2", "JOIN_SECONDS=" + join,
                            testing::kWithLeaksOfOthers}};
  }

  // A launcher may wait for a stopped rank for ever. Then a person ends that rank, once the other
  // ranks have named it.
  static void end_what_is_stopped(Process& job, const Harm& harm) {
    if (harm.kind != "stop") return;
    const std::string blamed = "rank " + std::to_string(harm.victim);
    EXPECT_TRUE(job.wait_for(harm.moment == "join" ? "harm at" : blamed)) << job.err();
    std::this_thread::sleep_for(std::chrono::seconds(harm.moment == "join" ? 4 : 1));
    for (const pid_t pid : testing::live_descendants()) {
      if (testing::state_of(pid) == 'T') ::kill(pid, SIGKILL);
    }
  }

  // `package` is Debian's package of the launcher.
  static void expect_end_under(const std::string& package, const Words& launcher,
                               const std::string& kind) {
    if (!std::filesystem::exists(launcher.front())) {
      GTEST_SKIP() << package << " is not installed";
    }
    for (const Harm& harm : harms_of(kind)) {
      SCOPED_TRACE(launcher.front() + " fault_ranks " + harm.kind + " " +
                   std::to_string(harm.victim) + " " + harm.moment);
      Process job(command(launcher, harm));
      end_what_is_stopped(job, harm);
      const Result result = job.wait(std::chrono::seconds(60));
      EXPECT_TRUE(result.was_in_time) << result.err;
      EXPECT_NE(result.exit_code, 0) << result.err;
      EXPECT_TRUE(std::filesystem::remove(harm_file())) << result.err;
      EXPECT_TRUE(testing::all_gone_within(std::chrono::seconds(5))) << "a process was left behind";
    }
  }
};

TEST_P(FaultsOfOtherLaunchers, UnderMpirunOfOpenMpi) {
  expect_end_under("openmpi-bin", {"/usr/bin/mpirun.openmpi", "--oversubscribe", "-np", "3"},
                   GetParam());
}

TEST_P(FaultsOfOtherLaunchers, UnderMpiexecOfMpich) {
  expect_end_under("mpich", {"/usr/bin/mpirun.mpich", "-np", "3"}, GetParam());
}

// Nobody ends a rank here: each of the others ends by itself, and says why.
TEST_P(FaultsOfOtherLaunchers, WithTheVariablesOfTorchrun) {
  for (const Harm& harm : harms_of(GetParam())) {
    SCOPED_TRACE("fault_ranks " + harm.kind + " " + std::to_string(harm.victim) + " " +
                 harm.moment);
    const testing::OwnPorts ports;
    std::vector<std::unique_ptr<Process>> ranks;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      Command each = command({}, harm);
      const std::string number = std::to_string(rank);
      each.environment.insert(
          each.environment.end(),
          {"RANK=" + number, "WORLD_SIZE=3", "LOCAL_RANK=" + number, "LOCAL_WORLD_SIZE=3",
           "GROUP_WORLD_SIZE=1", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + ports.first(),
           "TORCHELASTIC_USE_AGENT_STORE=True", "TORCHELASTIC_RUN_ID=none"});
      ranks.push_back(std::make_unique<Process>(std::move(each)));
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      if (rank == harm.victim) continue;
      const Result result = ranks[rank]->wait(std::chrono::seconds(60));
      EXPECT_TRUE(result.was_in_time) << "rank " << rank << ": " << result.err;
      EXPECT_EQ(result.exit_code, 1) << "rank " << rank;
      const bool has_names = harm.moment != "join";
      const std::string blamed = "rank " + std::to_string(harm.victim);
      EXPECT_THAT(result.err, HasSubstr(has_names ? blamed : " ")) << "rank " << rank;
    }
    if (harm.kind == "stop") ranks[harm.victim]->signal(SIGKILL);
    EXPECT_TRUE(ranks[harm.victim]->wait(std::chrono::seconds(60)).was_in_time);
    EXPECT_TRUE(testing::all_gone_within(std::chrono::seconds(5))) << "a process was left behind";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FaultsOfOtherLaunchers, ::testing::ValuesIn(kKinds),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace rota

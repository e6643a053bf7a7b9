// Under another launcher, the example trains the same model as under rotarun, with not a line
// changed.
// Method: an epoch on three ranks of this machine, started by rotarun, by the real mpirun and
// mpiexec, and with the variables of torchrun. All must end with the same weights, and share
// memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "mnist/few_images.h"
#include "mnist/outcome.h"
#include "testing/leaks_of_others.h"
#include "testing/own_ports.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::outcome_of;
using testing::Result;

const std::string kOpenMpi = "/usr/bin/mpirun.openmpi";
const std::string kMpich = "/usr/bin/mpirun.mpich";

class OtherLaunchers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<testing::TemporaryFolder>();
    testing::write_few_images(*folder_, 3000, 1000);
    std::vector<std::string> arguments = {"-np", "3", "--oversubscribe"};
    const auto program = program_with({});
    arguments.insert(arguments.end(), program.begin(), program.end());
    expected_ = outcome_of(testing::run_rotarun(arguments));
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void TearDown() override { EXPECT_TRUE(testing::all_gone_within(std::chrono::seconds(5))); }

  static std::vector<std::string> program_with(const std::vector<std::string>& more) {
    std::vector<std::string> program = {testing::bin_path("mnist"), "--json", "--data",
                                        folder_->path().string()};
    program.insert(program.end(), more.begin(), more.end());
    return program;
  }

  static void expect_same(const Result& result) {
    const Outcome outcome = outcome_of(result);
    EXPECT_EQ(outcome.weights_hash, expected_.weights_hash);
    EXPECT_EQ(outcome.transport, "shm");
    EXPECT_EQ(outcome.world, 3U);
  }

  // mpirun may run as root, and with more ranks than cores.
  static Command command(std::vector<std::string> launcher,
                         const std::vector<std::string>& program) {
    launcher.insert(launcher.end(), program.begin(), program.end());
    return {.arguments = std::move(launcher),
            .environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                            "HOME=" + folder_->path().string(),
                            "ROTA_KEY_FILE=", testing::kWithLeaksOfOthers}};
  }

  static Command mpirun(const std::vector<std::string>& program) {
    return command({kOpenMpi, "--oversubscribe", "-np", "3"}, program);
  }

  inline static std::unique_ptr<testing::TemporaryFolder> folder_;
  inline static Outcome expected_;
};

TEST_F(OtherLaunchers, MayBeMpirunOfOpenMpi) {
  if (!std::filesystem::exists(kOpenMpi)) GTEST_SKIP() << "openmpi-bin is not installed";
  expect_same(testing::run(mpirun(program_with({}))));
}

// Only the server knows the number of ranks: each rank asks for it, and then connects once more to
// meet the others.
TEST_F(OtherLaunchers, MayBeOneThatSpeaksPmixAlone) {
  if (!std::filesystem::exists(kOpenMpi)) GTEST_SKIP() << "openmpi-bin is not installed";
  std::vector<std::string> program = {"env"};
  for (const std::string name : {"RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE"}) {
    program.insert(program.end(), {"-u", "OMPI_COMM_WORLD_" + name});
  }
  const std::vector<std::string> train = program_with({});
  program.insert(program.end(), train.begin(), train.end());
  expect_same(testing::run(mpirun(program)));
}

TEST_F(OtherLaunchers, MayBeMpiexecOfMpich) {
  if (!std::filesystem::exists(kMpich)) GTEST_SKIP() << "mpich is not installed";
  expect_same(testing::run(command({kMpich, "-np", "3"}, program_with({}))));
}

TEST_F(OtherLaunchers, MayBeTorchrun) {
  std::vector<std::unique_ptr<testing::Process>> ranks;
  const testing::OwnPorts ports;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    Command each = command({}, program_with({}));
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"RANK", std::to_string(rank)},
                                                          {"WORLD_SIZE", "3"},
                                                          {"LOCAL_RANK", std::to_string(rank)},
                                                          {"LOCAL_WORLD_SIZE", "3"},
                                                          {"GROUP_WORLD_SIZE", "1"},
                                                          {"MASTER_ADDR", "127.0.0.1"},
                                                          {"MASTER_PORT", ports.first()},
                                                          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                                          {"TORCHELASTIC_RUN_ID", "none"}}) {
      each.environment.push_back(name + "=" + value);
    }
    ranks.push_back(std::make_unique<testing::Process>(std::move(each)));
  }
  expect_same(ranks.front()->wait());
  for (const auto& rank : ranks) EXPECT_EQ(rank->wait().exit_code, 0) << rank->err();
}

// The code of a rank that fails is that of mpirun, and no process is left.
TEST_F(OtherLaunchers, EndAllRanksWhenOneFails) {
  if (!std::filesystem::exists(kOpenMpi)) GTEST_SKIP() << "openmpi-bin is not installed";
  const Result result = testing::run(
      mpirun({"sh", "-c",
              "[ $OMPI_COMM_WORLD_RANK = 1 ] && exec " + program_with({})[0] +
                  " --data /nonexistent; exec \"$0\" \"$@\"",
              program_with({})[0], "--data", folder_->path().string(), "--epochs", "1000"}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_TRUE(result.was_in_time);
  EXPECT_THAT(result.err, HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace rota

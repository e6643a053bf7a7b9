// Over MPI, the example trains the same model: with --transport mpi, where its program knows no
// MPI, and in a program that has called MPI_Init.
// Method: an epoch on ranks of this machine, over shared memory and over each MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include "mnist/few_images.h"
#include "mnist/outcome.h"
#include "testing/paths.h"
#include "testing/proc.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::outcome_of;
using testing::Result;
using Words = std::vector<std::string>;

class OverMpi : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    files = std::make_unique<testing::TemporaryFolder>();
    testing::write_few_images(*files, 1200, 300);
  }
  static void TearDownTestSuite() { files.reset(); }

  void SetUp() override { std::filesystem::create_directory(own_folder()); }
  void TearDown() override {
    EXPECT_TRUE(testing::all_gone_within(std::chrono::seconds(5))) << "a process was left behind";
    EXPECT_TRUE(std::filesystem::is_empty(own_folder())) << "files were left in TMPDIR";
  }

  static std::string own_folder() { return files->path().string() + "/tmp"; }

  // The example as `world` ranks.
  static Command command(const std::string& world, const Words& options, const Words& more = {}) {
    Words words = {"-np", world, "--oversubscribe"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(),
                 {testing::bin_path("mnist"), "--json", "--data", files->path().string()});
    words.insert(words.end(), more.begin(), more.end());
    Command command = testing::rotarun(std::move(words));
    command.environment.push_back("TMPDIR=" + own_folder());
    return command;
  }

  static void expect_same_weights(const std::string& world, const Words& options) {
    const Outcome expected = outcome_of(testing::run(command(world, {})));
    const Result result = testing::run(command(world, options));
    const Outcome outcome = outcome_of(result);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(outcome.weights_hash, expected.weights_hash);
    EXPECT_EQ(outcome.transport, "mpi");
    EXPECT_EQ(std::to_string(outcome.world), world);
  }

  // Returns a command that runs the example in a program that uses MPI, under the mpirun of this
  // MPI. A rank of Open MPI that is killed leaves its shared memory behind, and mpirun may leave
  // files, so all of this is in the folder of the test.
  static Command command_in_mpi(const std::string& mpi, const std::string& world,
                                const Words& ranks, const Words& more = {}) {
    Words words = {"/usr/bin/mpirun." + mpi, "-np", world};
    words.insert(words.end(), ranks.begin(), ranks.end());
    words.insert(words.end(), {testing::test_path("mnist_in_mpi_" + mpi), "--json", "--data",
                               files->path().string()});
    words.insert(words.end(), more.begin(), more.end());
    const std::string folder = files->path().string();
    return {.arguments = std::move(words),
            .environment = {"HOME=" + folder, "TMPDIR=" + folder,
                            "OMPI_MCA_btl_vader_backing_directory=" + folder}};
  }

  static void expect_same_weights_in_mpi(const std::string& mpi, const Words& ranks) {
    const Outcome expected = outcome_of(testing::run(command("3", {})));
    const Result result = testing::run(command_in_mpi(mpi, "3", ranks));
    const Outcome outcome = outcome_of(result);
    EXPECT_TRUE(result.was_in_time);
    EXPECT_EQ(outcome.weights_hash, expected.weights_hash);
    EXPECT_EQ(outcome.transport, "mpi");
    EXPECT_EQ(outcome.world, 3U);
  }

  // Kills rank 1 of a program that uses MPI, in the middle of a long run. `variable` has its
  // number.
  static void expect_end_with_a_rank_in_mpi(const std::string& mpi, const Words& ranks,
                                            const std::string& variable) {
    testing::adopt_orphans();
    testing::Process job(command_in_mpi(mpi, "2", ranks, {"--epochs", "1000"}));
    ASSERT_TRUE(job.wait_for("\"event\":\"epoch\"")) << job.err();
    const std::string number = '\0' + variable + "=1" + '\0';
    std::size_t killed = 0;
    for (const pid_t pid : testing::live_descendants()) {
      const bool is_rank = testing::proc_file(pid, "comm").starts_with("mnist_in_mpi");
      const std::string variables = '\0' + testing::proc_file(pid, "environ");
      const bool is_victim = variables.find(number) != std::string::npos;
      if (is_rank && is_victim && ::kill(pid, SIGKILL) == 0) ++killed;
    }
    EXPECT_EQ(killed, 1U);
    const Result result = job.wait(std::chrono::seconds(60));
    EXPECT_TRUE(result.was_in_time) << result.err;
    EXPECT_NE(result.exit_code, 0) << result.err;
  }

  // Kills rank 1 in the middle of a long run.
  static void expect_end_with_a_rank(const Words& options) {
    Command endless = command("2", options, {"--epochs", "1000"});
    endless.arguments.insert(endless.arguments.begin() + 1, "-v");
    testing::Process job(std::move(endless));
    const std::string started = "rank 1 is process ";
    ASSERT_TRUE(job.wait_for("\"event\":\"epoch\""));
    const std::string err = job.err();
    const std::size_t at = err.find(started);
    ASSERT_NE(at, std::string::npos) << err;
    ::kill(std::stoi(err.substr(at + started.size())), SIGKILL);
    const Result result = job.wait();
    EXPECT_EQ(result.exit_code, 137) << result.err;
    EXPECT_THAT(result.err, HasSubstr("rank 1"));
  }

  inline static std::unique_ptr<testing::TemporaryFolder> files;
};

#if defined(ROTA_HAS_OPEN_MPI)
TEST_F(OverMpi, HasTheSameWeightsOverOpenMpi) {
  expect_same_weights("3", {"--transport", "mpi", "--mpi", "pmix"});
}

TEST_F(OverMpi, HasTheSameWeightsInAProgramOfOpenMpi) {
  expect_same_weights_in_mpi("openmpi", {"--allow-run-as-root", "--oversubscribe"});
}

TEST_F(OverMpi, EndsWithARankThatIsKilledInAProgramOfOpenMpi) {
  expect_end_with_a_rank_in_mpi("openmpi", {"--allow-run-as-root", "--oversubscribe"},
                                "OMPI_COMM_WORLD_RANK");
}

TEST_F(OverMpi, EndsWithARankThatIsKilledOverOpenMpi) {
  expect_end_with_a_rank({"--transport", "mpi", "--mpi", "pmix"});
}
#endif

// The ranks of MPICH spin, so they are as few as the cores.
#if defined(ROTA_HAS_MPICH)
TEST_F(OverMpi, HasTheSameWeightsOverMpich) {
  expect_same_weights("2", {"--transport", "mpi", "--mpi", "pmi"});
}

TEST_F(OverMpi, HasTheSameWeightsInAProgramOfMpich) { expect_same_weights_in_mpi("mpich", {}); }

TEST_F(OverMpi, EndsWithARankThatIsKilledInAProgramOfMpich) {
  expect_end_with_a_rank_in_mpi("mpich", {}, "PMI_RANK");
}

TEST_F(OverMpi, EndsWithARankThatIsKilledOverMpich) {
  expect_end_with_a_rank({"--transport", "mpi", "--mpi", "pmi"});
}
#endif

}  // namespace
}  // namespace rota

// Ranks that Open MPI's mpirun starts on two hosts are one world. With not a line changed, they
// find each other through the PMIx servers of both hosts. A program that uses MPI itself gives rota
// its communicator. Method: the hosts are network namespaces. mpirun starts its daemon on the
// second host by a script in the place of ssh, which enters the namespace.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "hosts/across_hosts.h"
#include "mnist/few_images.h"
#include "mnist/outcome.h"
#include "os/listener.h"
#include "testing/leaks_of_others.h"

namespace rota::testing {
namespace {

const std::string kMpirun = "/usr/bin/mpirun.openmpi";

class HostsOfMpirun : public AcrossHosts {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kMpirun)) GTEST_SKIP() << "openmpi-bin is not installed";
    AcrossHosts::SetUp();
    if (IsSkipped()) return;
    adopt_orphans();
    agent_ = write_shell_agent();
  }

  void TearDown() override {
    AcrossHosts::TearDown();
    EXPECT_TRUE(all_gone_within(std::chrono::seconds(5))) << "a process was left behind";
  }

  // Runs a program as two ranks on the first host and one rank on the second. Each host has a name
  // of its own, by which Open MPI tells hosts apart. No argument may contain a blank. All ranks get
  // the variables.
  Result mpirun(const std::vector<std::string>& program,
                const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> words = {agent_, network_->address(0), kMpirun, "-np", "3"};
    words.insert(words.end(), {"-H", hosts({2, 1}), "--map-by", "slot", "--bind-to", "none"});
    words.insert(words.end(), {"--mca", "plm_rsh_agent", agent_});
    words.insert(words.end(), {"--mca", "oob_tcp_if_include", "10.77.0.0/24"});
    words.insert(words.end(), program.begin(), program.end());
    Command command{.arguments = std::move(words),
                    .environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                    "HOME=" + folder_, "TMPDIR=" + folder_,
                                    "ROTA_KEY_FILE=", kWithLeaksOfOthers}};
    command.environment.insert(command.environment.end(), variables.begin(), variables.end());
    return run(std::move(command));
  }

 private:
  // Writes a program that a launcher uses as ssh: AGENT ADDRESS WORD... The words are for a shell.
  std::string write_shell_agent() const {
    std::string path = folder_ + "/shell_agent";
    std::ofstream script(path);
    script << "#!/bin/sh\nhost=$1; shift\ncase $host in\n";
    for (std::size_t host = 0; host < network_->host_count(); ++host) {
      script << network_->address(host) << ") exec " << network_->command_prefix(host)
             << " /usr/bin/unshare --uts /bin/sh -c \"hostname host" << host << "; $*\" ;;\n";
    }
    script << "*) echo \"no way to $host\" >&2; exit 255 ;;\nesac\n";
    script.close();
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  std::string agent_;
};

// The weights have the bits of a job of three ranks on one host.
TEST_F(HostsOfMpirun, TrainTheModelThatRotarunTrains) {
  TemporaryFolder images;
  write_few_images(images, 3000, 1000);
  const std::vector<std::string> program = {bin_path("mnist"), "--json", "--data",
                                            images.path().string()};
  std::vector<std::string> own = {"-np", "3", "--oversubscribe"};
  own.insert(own.end(), program.begin(), program.end());
  const Outcome expected = outcome_of(run_rotarun(own));
  const Outcome outcome = outcome_of(mpirun(program));
  EXPECT_EQ(outcome.weights_hash, expected.weights_hash);
  EXPECT_EQ(outcome.world, 3U);
  EXPECT_EQ(outcome.transport, "shm+tcp") << "two ranks share a host, and one has its own";
}

class FaultsOnHostsOfMpirun : public HostsOfMpirun,
                              public ::testing::WithParamInterface<const char*> {};

// The others name a stopped rank at their deadline, and end. Then mpirun ends the stopped one, too.
// Method: the victim is the rank of the second host, or a rank that shares the first one.
TEST_P(FaultsOnHostsOfMpirun, EndTheJob) {
  for (const std::string victim : {"2", "1"}) {
    const Result result =
        mpirun({test_path("fault_ranks"), GetParam(), victim, "200000"}, {"DEADLINE_SECONDS=2"});
    EXPECT_TRUE(result.was_in_time) << result.err;
    EXPECT_NE(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("harm at"));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FaultsOnHostsOfMpirun, ::testing::Values("kill", "abort", "stop"),
                         [](const auto& test) { return std::string(test.param); });

#if defined(ROTA_HAS_MNIST_IN_MPI)
// The example in a program that has called MPI_Init.
class HostsOfMpirunInMpi : public HostsOfMpirun {
 protected:
  void SetUp() override {
    HostsOfMpirun::SetUp();
    if (IsSkipped()) return;
    images_ = std::make_unique<TemporaryFolder>();
    write_few_images(*images_, 1200, 300);
  }

  // Open MPI keeps the memory that ranks share in the folder of the test: a rank that is ended by
  // MPI_Abort may leave it behind. Ranks that wait leave the cores to the others.
  Result train(std::vector<std::string> variables = {}) const {
    variables.push_back("OMPI_MCA_btl_vader_backing_directory=" + folder_);
    variables.emplace_back("OMPI_MCA_mpi_yield_when_idle=1");
    return mpirun({test_path("mnist_in_mpi_openmpi"), "--json", "--data", images_->path().string()},
                  variables);
  }

  void expect_trained(const Result& result) const {
    const Outcome expected =
        outcome_of(run_rotarun({"-np", "3", "--oversubscribe", bin_path("mnist"), "--json",
                                "--data", images_->path().string()}));
    const Outcome outcome = outcome_of(result);
    EXPECT_EQ(outcome.weights_hash, expected.weights_hash);
    EXPECT_EQ(outcome.world, 3U);
    EXPECT_EQ(outcome.transport, "mpi");
  }

 private:
  std::unique_ptr<TemporaryFolder> images_;
};

TEST_F(HostsOfMpirunInMpi, TrainTheModelThatRotarunTrains) { expect_trained(train()); }

// Method: the range has a single port. While another socket has this port, rank 0 cannot listen for
// the rank of the second host, and no rank trains. What the ranks say right before MPI_Abort may be
// lost, so only the exit code is compared.
TEST_F(HostsOfMpirunInMpi, MeetAtThePortsThatAreGiven) {
  const std::vector<std::string> one_port = {"ROTA_PORTS=7790-7790"};
  os::Listener other;
  network_->act_on(
      0, [&] { other = os::listen_on(os::parse_address(network_->address(0) + ":7790")); });
  const Result result = train(one_port);
  EXPECT_TRUE(result.was_in_time) << result.err;
  EXPECT_NE(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, Not(HasSubstr(R"("event":"done")")));
  other.socket.reset();
  expect_trained(train(one_port));
}
#endif

#if defined(ROTA_HAS_ABORTING_RANK)
// Method: rank 1, on the first host, gives up. Rank 0 and the rank of the second host are told so.
TEST_F(HostsOfMpirun, TellInMpiWhichRankGaveUp) {
  const std::string verdict = folder_ + "/verdict";
  const Result result = mpirun({test_path("mpi_aborting_rank_openmpi"), verdict},
                               {"OMPI_MCA_btl_vader_backing_directory=" + folder_});
  EXPECT_TRUE(result.was_in_time) << result.err;
  EXPECT_NE(result.exit_code, 0) << result.err;
  EXPECT_TRUE(std::filesystem::exists(verdict)) << result.err;
}
#endif

}  // namespace
}  // namespace rota::testing

// Ranks that Open MPI's mpirun starts on two hosts are one world, with not a line changed: they
// find each other through the PMIx servers of both hosts.
// Method: the hosts are network namespaces. mpirun starts its daemon on the second host by a script
// in the place of ssh, which enters the namespace.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "hosts/across_hosts.h"
#include "mnist/few_images.h"
#include "mnist/outcome.h"
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
  // of its own, by which Open MPI tells hosts apart. No argument may contain a blank.
  Result mpirun(const std::vector<std::string>& program) const {
    std::vector<std::string> words = {agent_, network_->address(0), kMpirun, "-np", "3"};
    words.insert(words.end(), {"-H", hosts({2, 1}), "--map-by", "slot", "--bind-to", "none"});
    words.insert(words.end(), {"--mca", "plm_rsh_agent", agent_});
    words.insert(words.end(), {"--mca", "oob_tcp_if_include", "10.77.0.0/24"});
    words.insert(words.end(), program.begin(), program.end());
    Process job({.arguments = std::move(words),
                 .environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                 "HOME=" + folder_, "TMPDIR=" + folder_,
                                 "ROTA_KEY_FILE=", kWithLeaksOfOthers}});
    return job.wait();
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

// Method: the victim is the rank of the second host, or a rank that shares the first one.
TEST_F(HostsOfMpirun, EndWithARankThatIsKilled) {
  for (const std::string victim : {"2", "1"}) {
    const Result result = mpirun({test_path("fault_ranks"), "kill", victim, "200000"});
    EXPECT_TRUE(result.was_in_time) << result.err;
    EXPECT_NE(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("harm at"));
  }
}

}  // namespace
}  // namespace rota::testing

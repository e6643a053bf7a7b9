// What is wrong around an MPI program does not make it hang, or run as many worlds of one.
#include "mpi_programs/on_worlds.h"

namespace rota::testing {
namespace {

const std::string kOpenMpi = "openmpi";

class BadSurroundings : public OnWorlds, public ::testing::WithParamInterface<std::string> {
 protected:
  static std::string member() { return program_of("mpi_member", GetParam()); }
  static bool is_open_mpi() { return GetParam().starts_with(kOpenMpi); }
};

// Both jobs have the same program, arguments, user and host.
TEST_P(BadSurroundings, AreAnotherJobOfTheSameName) {
  std::vector<std::unique_ptr<Process>> jobs;
  for (int job = 0; job < 2; ++job) {
    Command command = rotarun({"-np", "2", member(), "sum"});
    command.environment = environment_;
    jobs.push_back(std::make_unique<Process>(std::move(command)));
  }
  for (const auto& job : jobs) {
    const Result result = job->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("0 of 2: sum 3"), HasSubstr("1 of 2: sum 3")));
  }
}

// 64 MiB is what Kubernetes gives to a container.
TEST_P(BadSurroundings, AreLittleSharedMemory) {
  mount_shared_memory("size=64m");
  const std::string out = output_on({4}, {program_of("patterns", GetParam())});
  EXPECT_THAT(out, HasSubstr("rank 3 of 4: all right\n"));
  ::umount2(kSharedMemory, MNT_DETACH);
}

// Only Open MPI needs a folder for its files.
TEST_P(BadSurroundings, AreAReadOnlyTmpdir) {
  const std::string folder = current_folder();
  ASSERT_EQ(::mount("none", folder.c_str(), "tmpfs", MS_RDONLY, nullptr), 0);
  environment_ = {"TMPDIR=" + folder};
  const Result result = run_on({2}, {member(), "sum"}).front();
  ::umount2(folder.c_str(), MNT_DETACH);
  EXPECT_EQ(result.exit_code, is_open_mpi() ? 126 : 0) << result.err;
  if (!is_open_mpi()) return;
  EXPECT_THAT(result.err, HasSubstr("Read-only file system; let TMPDIR name a folder"));
}

// The hosts have the same addresses there too, and no packet comes through.
TEST_P(BadSurroundings, AreANetworkCardThatLeadsNowhere) {
  for (std::size_t host = 0; host < 2; ++host) {
    network_->configure(host, "ip link add name aaa type veth peer name bbb; ip addr add 10.99.0." +
                                  std::to_string(host + 1) +
                                  "/24 dev aaa; ip link set aaa up; ip link set bbb up");
  }
  const std::string out = output_on({2, 2}, {member(), "sum"});
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_THAT(out, HasSubstr(std::string(rank) + " of 4: sum 10\n"));
  }
}

std::string name_of_mpi(const ::testing::TestParamInfo<std::string>& test) { return test.param; }
INSTANTIATE_TEST_SUITE_P(Of, BadSurroundings, ::testing::ValuesIn(mpis()), name_of_mpi);

class OfDebian : public BadSurroundings {};

TEST_P(OfDebian, NeedsNoRoot) {
  for (const std::string& folder : {folder_ + "/tmp", std::string(kSharedMemory)}) {
    std::filesystem::permissions(folder, std::filesystem::perms::all);
  }
  Command command = rotarun({"-np", "2", member(), "sum"});
  command.environment = environment_;
  const std::vector<std::string> prefix = {"/usr/bin/setpriv", "--reuid", "65534",
                                           "--regid",          "65534",   "--clear-groups"};
  command.arguments.insert(command.arguments.begin(), prefix.begin(), prefix.end());
  const Result result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("0 of 2: sum 3"), HasSubstr("1 of 2: sum 3")));
}

INSTANTIATE_TEST_SUITE_P(Of, OfDebian, ::testing::Values("openmpi", "mpich"), name_of_mpi);

class WithOpenMpi : public OnWorlds {};

TEST_F(WithOpenMpi, ThirtyTwoRanksShareTheCores) {
  const std::string out = output_on({32}, {program_of("mpi_member", kOpenMpi), "sum"});
  EXPECT_THAT(out, AllOf(HasSubstr("0 of 32: sum 528\n"), HasSubstr("31 of 32: sum 528\n")));
}

// rotarun-pmix is compiled with Debian's PMIx, and loads another one here. The ranks load their
// own.
TEST_F(WithOpenMpi, ThePmixOfTheServerMayBeNewer) {
  const std::string libraries = test_path("mpi_programs/newer_pmix");
  if (!std::filesystem::exists(libraries)) GTEST_SKIP() << "no wheel of Open MPI is installed";
  environment_.push_back("LD_LIBRARY_PATH=" + libraries);
  for (const std::string& mpi : mpis()) {
    if (!mpi.starts_with(kOpenMpi)) continue;
    const std::string out =
        output_on({2, 2}, {"-x", "LD_LIBRARY_PATH=", program_of("mpi_member", mpi), "sum"});
    EXPECT_THAT(out, HasSubstr("3 of 4: sum 10\n")) << mpi;
  }
}

}  // namespace
}  // namespace rota::testing

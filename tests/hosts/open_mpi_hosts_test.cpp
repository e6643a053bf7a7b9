// Unchanged Open MPI programs find one world over several hosts, and a failure on one host ends
// them on all.
#include <filesystem>
#include <set>

#include "hosts/across_hosts.h"
#include "testing/leaks_of_others.h"

namespace rota::testing {
namespace {

const std::string kMember = test_path("openmpi_member");
const std::string kPmixMember = test_path("pmix_member");

class OpenMpiHosts : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (IsSkipped()) return;
    environment_.push_back("TMPDIR=" + folder_);
    environment_.emplace_back(kWithLeaksOfOthers);
    before_ = files();
  }

  void TearDown() override {
    for (const auto& entry : files()) {
      EXPECT_TRUE(before_.contains(entry)) << entry << " was left behind";
    }
    AcrossHosts::TearDown();
  }

  // Returns what MPI may leave behind in the hosts' common folders.
  std::set<std::string> files() const {
    std::set<std::string> found;
    if (folder_.empty()) return found;
    for (const std::string& folder : {folder_, std::string("/dev/shm")}) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("rotarun-mpi") || name.starts_with("ompi.")) found.insert(name);
      }
    }
    return found;
  }

  // Runs a member on hosts with so many ranks each, and returns the result of each host.
  std::vector<Result> run_on(const std::vector<std::size_t>& slots,
                             const std::vector<std::string>& act) {
    std::vector<std::string> arguments = {kMember};
    arguments.insert(arguments.end(), act.begin(), act.end());
    return run_words_on(slots, arguments);
  }

  std::vector<Result> run_words_on(const std::vector<std::size_t>& slots,
                                   const std::vector<std::string>& arguments) {
    environment_.push_back("ROTA_HOSTS=" + hosts(slots));
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < slots.size(); ++host) all.push_back(start(host, arguments));
    std::vector<Result> results;
    for (const auto& each : all) results.push_back(each->wait());
    environment_.pop_back();
    return results;
  }

 private:
  std::set<std::string> before_;  // Of other tests that run at the same time.
};

TEST_F(OpenMpiHosts, AreOneWorld) {
  const std::vector<std::vector<std::size_t>> worlds = {{2, 2}, {3, 1}, {2, 1, 4}};
  for (const auto& slots : worlds) {
    std::size_t size = 0;
    for (const std::size_t count : slots) size += count;
    const std::string sum = std::to_string(size * (size + 1) / 2);
    std::size_t rank = 0;
    const auto results = run_on(slots, {"sum"});
    for (std::size_t host = 0; host < slots.size(); ++host) {
      EXPECT_EQ(results[host].exit_code, 0) << results[host].err;
      for (std::size_t local = 0; local < slots[host]; ++local, ++rank) {
        EXPECT_THAT(results[host].out, HasSubstr(std::to_string(rank) + " of " +
                                                 std::to_string(size) + ": sum " + sum + "\n"));
      }
    }
  }
}

#if defined(ROTA_HAS_OPEN_MPI)
// The program of the ranks knows no MPI.
TEST_F(OpenMpiHosts, CarryTheMessagesOfRota) {
  const auto results = run_words_on({2, 1}, {"--transport", "mpi", rank_program()});
  for (const Result& result : results) EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(results[0].out, AllOf(HasSubstr("rank 0 of 3"), HasSubstr("rank 1 of 3")));
  EXPECT_THAT(results[1].out, HasSubstr("rank 2 of 3"));
  EXPECT_THAT(results[1].out, HasSubstr(": sum 6\n"));
}

// Method: the ranks of the second host cannot open the library there.
TEST_F(OpenMpiHosts, EndWhereOneHostHasNoLibraryForMessages) {
  environment_.push_back("ROTA_HOSTS=" + hosts({1, 1}));
  const std::vector<std::string> here = {"--transport", "mpi", "--mpi", "pmix", rank_program()};
  std::vector<std::string> there = here;
  there.insert(there.begin(), {"-x", "ROTA_MPI_LIBRARY=/nonexistent/library.so"});
  const auto first = start(0, here);
  const auto second = start(1, there);
  for (const auto* each : {&first, &second}) EXPECT_EQ((*each)->wait().exit_code, 3);
  EXPECT_THAT(second->err(), HasSubstr("cannot use the library /nonexistent/library.so"));
  EXPECT_THAT(first->err(), HasSubstr("exited with code 3: the job's transport is mpi"));
}
#endif

// The hosts have addresses of one network on cards that are not connected.
TEST_F(OpenMpiHosts, MayHaveANetworkCardThatLeadsNowhere) {
  for (std::size_t host = 0; host < 2; ++host) {
    network_->configure(host, "ip link add name aaa type veth peer name bbb; ip addr add 10.99.0." +
                                  std::to_string(host + 1) +
                                  "/24 dev aaa; ip link set aaa up; ip link set bbb up");
  }
  for (const Result& result : run_on({1, 1}, {"sum"})) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("of 2: sum 3"));
  }
}

// If the first fence carries no data, a rank asks for the data of another rank when it first needs
// them. The fence itself is needed. If there is none, libpmix does not wait for data that are not
// there yet.
TEST_F(OpenMpiHosts, AskForTheDataOfSingleRanks) {
  environment_.emplace_back("OMPI_MCA_pmix_base_collect_data=0");
  for (const Result& result : run_on({2, 1}, {"sum"})) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("of 3: sum 6"));
  }
}

TEST_F(OpenMpiHosts, EndWithTheCodeOfMpiAbort) {
  for (const std::string victim : {"0", "3"}) {
    for (const Result& result : run_on({2, 2}, {"abort", victim, "42"})) {
      EXPECT_EQ(result.exit_code, 42) << result.err;
      EXPECT_THAT(result.err, HasSubstr("rank " + victim));
    }
  }
}

TEST_F(OpenMpiHosts, EndWhereARankIsKilled) {
  for (const std::string victim : {"1", "2"}) {
    for (const Result& result : run_on({2, 2}, {"die", victim})) {
      EXPECT_EQ(result.exit_code, 137) << result.err;
      EXPECT_THAT(result.err, HasSubstr("rank " + victim));
    }
  }
}

TEST_F(OpenMpiHosts, EndWhereARankLeavesWithoutFinalize) {
  for (const Result& result : run_on({2, 2}, {"leave", "3"})) {
    EXPECT_EQ(result.exit_code, 79) << result.err;
    EXPECT_THAT(result.err, HasSubstr("rank 3"));
    EXPECT_THAT(result.err, HasSubstr("MPI_Finalize"));
  }
}

TEST_F(OpenMpiHosts, EndWhereARankStaysAway) {
  for (const Result& result : run_on({2, 2}, {"absent", "3"})) {
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("rank 3"));
    EXPECT_THAT(result.err, HasSubstr("MPI_Init"));
  }
}

// A message between hosts has less room than PMIx may want.
TEST_F(OpenMpiHosts, EndWhereARankPublishesTooMuch) {
  for (const Result& result :
       run_words_on({1, 1}, {"--mpi", "pmix", kPmixMember, "publish", "9000000"})) {
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("but rotarun passes on at most 4194304: use fewer ranks"));
  }
}

TEST_F(OpenMpiHosts, EndWhereARankDoesNotComeToTheOthers) {
  for (const auto& slots : {std::vector<std::size_t>{1, 1}, std::vector<std::size_t>{1, 2}}) {
    for (const Result& result :
         run_words_on(slots, {"--mpi", "pmix", "--join-timeout", "4", kPmixMember, "hang"})) {
      EXPECT_EQ(result.exit_code, 201) << result.err;
      EXPECT_THAT(
          result.err,
          HasSubstr("for 4 s (--join-timeout); absent: " +
                    std::string(slots[1] == 1 ? "rank 1" : "one or more of rank 1, rank 2")));
    }
  }
}

TEST_F(OpenMpiHosts, EndWhereAServerIsKilled) {
  for (const Result& result : run_words_on({1, 1}, {"--mpi", "pmix", kPmixMember, "kill"})) {
    EXPECT_EQ(result.exit_code, 201) << result.err;
    EXPECT_THAT(result.err, HasSubstr("the PMIx server of " + network_->address(0) + ","));
  }
}

}  // namespace
}  // namespace rota::testing

// Ranks on one host share memory, even if the job has other hosts.
#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

class DomainsTest : public AcrossHosts {
 protected:
  void expect_success(const std::vector<std::string>& arguments) {
    const auto all = start_all(arguments);
    for (const auto& each : all) {
      const Result result = each->wait();
      EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    }
  }

  // Returns what the first host prints about a job of `rank_program` with --verbose.
  std::string said_by_job(const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"--verbose"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.push_back(rank_program());
    const auto all = start_all(arguments);
    for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
    return all[0]->err();
  }

  static std::string collectives() { return test_path("collectives_ranks"); }
  static std::string groups() { return test_path("groups_ranks"); }
};

// The test uses only two types: tests/ranks runs every type, over each of the two transports.
TEST_F(DomainsTest, MakeEveryCollective) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 2})};
  expect_success({"--deadline", "20", collectives(), "auto", "5",
                  "--gtest_filter=*/float32.*:*/int8.*:Barrier.*"});
}

TEST_F(DomainsTest, MakeAllReducesByEveryPlan) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 3, 1})};
  for (const std::string plan :
       {"ring", "direct", "hub", "by-host", "halving-doubling", "tree", "two-level", "star"}) {
    expect_success({"--deadline", "20", collectives(), plan, "5",
                    "--gtest_filter=CollectivesTest*AllReduce*"});
  }
}

// The groups are within one domain or across several. Their ranks may also be threads that share a
// process.
TEST_F(DomainsTest, MakeGroupsOutOfOthers) {
  for (const auto& slots : std::vector<std::vector<std::size_t>>{{2, 1, 2}, {1, 1, 1}}) {
    environment_ = {"ROTA_HOSTS=" + hosts(slots)};
    expect_success({"--deadline", "20", groups()});
    expect_success({"--deadline", "20", groups(), "threads"});
  }
}

// If ranks are numbered from host to host, two successive ranks share no host.
TEST_F(DomainsTest, MayHaveRanksThatDoNotFollowOneAnother) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 2, 1})};
  expect_success({"--deadline", "20", "--rank-by", "node", collectives(), "auto", "5",
                  "--gtest_filter=CollectivesTest*AllReduce*"});
}

TEST_F(DomainsTest, AreWhereARotarunHasSeveralRanks) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 1})};
  EXPECT_THAT(said_by_job({}), HasSubstr("float64 on 4 ranks over shm+tcp: "));
  EXPECT_THAT(said_by_job({"--transport", "tcp"}), HasSubstr("float64 on 4 ranks over tcp: "));
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  EXPECT_THAT(said_by_job({}), HasSubstr("float64 on 3 ranks over tcp: "));
}

TEST_F(DomainsTest, AreWhatTheFirstHostSaysWhateverOthersAreTold) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 2, 1})};
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < 3; ++host) {
    all.push_back(
        start(host, {"--verbose", "--transport", host == 1 ? "tcp" : "auto", rank_program()}));
  }
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_THAT(all[0]->err(), HasSubstr("float64 on 4 ranks over shm+tcp: "));
}

TEST_F(DomainsTest, AreAllThereIsWhereOtherHostsHaveNoRanks) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 1})};
  EXPECT_THAT(said_by_job({"-np", "2"}), HasSubstr("float64 on 2 ranks over shm: "));
}

TEST_F(DomainsTest, AreAllThereIsWhereOneHostHasAllRanks) {
  const std::string agent = write_agent();
  const auto job = std::make_unique<Process>(
      network_->on(0, rotarun({"-H", network_->address(1) + ":3", "--agent", agent + " {host}",
                               "--verbose", rank_program()})));
  const Result result = job->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 2 of 3 on 10.77.0.2: sum 6\n"));
  EXPECT_THAT(result.err, HasSubstr("float64 on 3 ranks over shm: "));
}

// Nothing in shared memory shows the death. The launcher tells the local peer about it. The other
// ranks see the end of a stream.
TEST_F(DomainsTest, HearThatOneOfThemIsKilled) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 2}), "ROUNDS=100000"};
  auto all = start_all({"--deadline", "1000", "/bin/sh", "-c",
                        "[ $ROTA_RANK != 3 ] || (sleep 1; kill -9 $$) & exec " + rank_program()});
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 137) << result.err;
    EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL"));
  }
}

TEST_F(DomainsTest, EndForOneThatStandsAndNameIt) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 2}), "ROUNDS=100000"};
  auto all =
      start_all({"--deadline", "2", "/bin/sh", "-c",
                 "[ $ROTA_RANK != 4 ] || (sleep 1; kill -STOP $$) & exec " + rank_program()});
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("rank 4 (pid "));
    EXPECT_THAT(result.err, HasSubstr(", 10.77.0.3) is silent: it is stopped"));
  }
}

}  // namespace
}  // namespace rota::testing

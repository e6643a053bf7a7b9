// Tests a job with more hosts than may connect to one host: 36 launchers, twelve on each of three
// machines. The launchers of a machine have different ports. Host 1 passes on the messages between
// hosts 33 to 35 and the leader.
#include <csignal>

#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

constexpr std::size_t kHostCount = 36;

class TreeOfHosts : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!network_) return;
    for (std::size_t host = 0; host < kHostCount; ++host) {
      workers_ += (host == 0 ? "\"" : ",\"") + place_of(host) + "\"";
    }
  }

  std::size_t machine_of(std::size_t host) const { return host % network_->host_count(); }
  std::string place_of(std::size_t host) const {
    return network_->address(machine_of(host)) + ":" + std::to_string(6000 + host);
  }

  std::unique_ptr<Process> start_one(std::size_t host, const std::vector<std::string>& arguments) {
    environment_ = {R"(TF_CONFIG={"cluster":{"worker":[)" + workers_ +
                        R"(]},"task":{"type":"worker","index":)" + std::to_string(host) + "}}",
                    "ROTA_SLOTS=1"};
    std::vector<std::string> all{"--bind-to", "none"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return start(machine_of(host), all);
  }

  std::vector<std::unique_ptr<Process>> start_tree(const std::vector<std::string>& arguments) {
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < kHostCount; ++host) {
      all.push_back(start_one(host, arguments));
    }
    return all;
  }

  std::string workers_;
};

TEST_F(TreeOfHosts, HasARankOnEach) {
  auto all = start_tree({rank_program()});
  for (std::size_t host = 0; host < kHostCount; ++host) {
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, 0) << "host " << host << ": " << result.err;
    EXPECT_THAT(result.out, HasSubstr("rank " + std::to_string(host) + " of 36 on "));
    EXPECT_THAT(result.out, HasSubstr("sum 666\n"));
  }
}

// Messages from host 35 reach the leader through host 1.
TEST_F(TreeOfHosts, EndsAlikeEverywhereWhereAFarRankFails) {
  auto all =
      start_tree({"/bin/sh", "-c",
                  "if [ $ROTA_RANK = 35 ]; then echo last words >&2; exit 7; fi; exec sleep 1000"});
  for (std::size_t host = 0; host < kHostCount; ++host) {
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, 7) << "host " << host;
    EXPECT_THAT(result.err, HasSubstr("rank 35 (pid ")) << "host " << host;
    EXPECT_THAT(result.err, HasSubstr("rotarun:   last words\n")) << "host " << host;
  }
}

TEST_F(TreeOfHosts, PassesASignalOnToAllRanksFromAFarHost) {
  auto all =
      start_tree({"/bin/sh", "-c", "trap 'exit 0' USR1; echo ready; while :; do sleep 0.1; done"});
  for (const auto& host : all) ASSERT_TRUE(host->wait_for("ready\n")) << host->err();
  all[kHostCount - 1]->signal(SIGUSR1);
  for (std::size_t host = 0; host < kHostCount; ++host) {
    EXPECT_EQ(all[host]->wait().exit_code, 0) << "host " << host << ": " << all[host]->err();
  }
}

// Host 0 names the absent host. The hosts below the absent one can only wait.
TEST_F(TreeOfHosts, NamesTheAbsentOneThatOthersCall) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the test of a far rank that fails shows the same";
#endif
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < kHostCount; ++host) {
    if (host == 1) continue;
    all.push_back(start_one(host, {"--join-timeout", "4", rank_program()}));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]->wait().exit_code, 200) << i << ": " << all[i]->err();
  }
  EXPECT_THAT(all.front()->err(), HasSubstr("4 of 36 hosts: host 1 (" + place_of(1) + ")"));
  EXPECT_THAT(all.front()->err(),
              HasSubstr("; the other 3 connect to these hosts, not to this one"));
  EXPECT_THAT(all.back()->err(), HasSubstr("host 1 (" + place_of(1) + ") at " + place_of(1)));
}

TEST_F(TreeOfHosts, WaitsForAFarHostThatComesLate) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the test of a far rank that fails shows the same";
#endif
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host + 1 < kHostCount; ++host) {
    all.push_back(start_one(host, {rank_program()}));
  }
  EXPECT_TRUE(all[0]->wait_for("for 1 of 36 hosts: host 35 (" + place_of(35) + ")"));
  EXPECT_TRUE(all[1]->wait_for("for 1 of 4 hosts: host 35 (" + place_of(35) + ")"));
  all.push_back(start_one(35, {rank_program()}));
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
}

// Method: the test kills rotarun's inner process, the parent of the ranks.
TEST_F(TreeOfHosts, EndsWith201WhereOneThatOthersCallIsLost) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the test of a far rank that fails shows the same";
#endif
  auto all = start_tree({"/bin/sh", "-c", kSayInner + "exec sleep 1000"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("inner "));
  ::kill(std::stoi(all[1]->out().substr(all[1]->out().find("inner ") + 6)), SIGKILL);
  for (std::size_t host = 0; host < kHostCount; ++host) {
    if (host == 1) continue;
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, 201) << "host " << host << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("lost host 1 (" + place_of(1) + ")")) << "host " << host;
  }
}

// Method: the test kills the inner process of the leader, host 0. Host 33 is connected to host 1
// only, so only host 1 can tell host 33 that the leader is lost. Without this message, host 33
// would go on, and host 1 would wait for host 33 for the whole grace time.
TEST_F(TreeOfHosts, EndsBelowAsWellWhereTheLeaderIsLost) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the test of a far rank that fails shows the same";
#endif
  auto all = start_tree({"--grace", "1000", "/bin/sh", "-c", kSayInner + "exec sleep 1000"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("inner "));
  ::kill(std::stoi(all[0]->out().substr(all[0]->out().find("inner ") + 6)), SIGKILL);
  for (std::size_t host = 1; host < kHostCount; ++host) {
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, 201) << "host " << host << ": " << result.err;
  }
}

TEST_F(TreeOfHosts, EndsEverywhereWhereAFarHostIsAskedTo) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the test of a far rank that fails shows the same";
#endif
  auto all = start_tree({"/bin/sh", "-c", "echo began; exec sleep 1000"});
  for (const auto& each : all) EXPECT_TRUE(each->wait_for("began"));
  all[34]->signal(SIGTERM);
  for (std::size_t host = 0; host < kHostCount; ++host) {
    EXPECT_EQ(all[host]->wait().exit_code, 143) << "host " << host << ": " << all[host]->err();
  }
  EXPECT_THAT(all[0]->err(), HasSubstr("host 34 (" + place_of(34) + ")"));
}

}  // namespace
}  // namespace rota::testing

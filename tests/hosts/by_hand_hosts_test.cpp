// Tests ranks that are started by hand, each on its own host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "testing/key_text.h"
#include "testing/network.h"
#include "testing/paths.h"

namespace rota::testing {
namespace {

using ::testing::HasSubstr;

const std::string kKey = key_text('k');

class ByHandHostsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto obstacle = Network::obstacle()) GTEST_SKIP() << *obstacle;
    network_ = std::make_unique<Network>(3);
  }

  std::unique_ptr<Process> start(std::size_t rank, const std::string& rounds,
                                 const std::string& key = kKey) {
    Command command{.arguments = {test_path("by_hand_rank"), std::to_string(rank), key},
                    .environment = {"ROUNDS=" + rounds}};
    if (!gathered_.empty()) command.environment.push_back("GATHERED=" + gathered_);
    command.environment.insert(command.environment.end(), variables_.begin(), variables_.end());
    for (std::size_t host = 0; host < network_->host_count(); ++host) {
      command.arguments.push_back(network_->address(host) + ":7001");
    }
    return std::make_unique<Process>(network_->on(rank, std::move(command)));
  }

  std::vector<std::unique_ptr<Process>> start_all(const std::string& rounds) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (std::size_t rank = 0; rank < network_->host_count(); ++rank) {
      ranks.push_back(start(rank, rounds));
    }
    return ranks;
  }

  std::unique_ptr<Network> network_;
  std::string gathered_;
  std::vector<std::string> variables_;
};

TEST_F(ByHandHostsTest, RanksMeetAcrossHosts) {
  for (auto& rank : start_all("1")) {
    const Result result = rank->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "sum 6\n");
  }
}

TEST_F(ByHandHostsTest, ARankThatIsKilledIsNamedByTheOthers) {
  const auto ranks = start_all("100000");
  for (const auto& rank : ranks) ASSERT_TRUE(rank->wait_for("sum 6"));
  ranks[1]->signal(SIGKILL);
  for (const std::size_t rank : {0, 2}) {
    const Result result = ranks[rank]->wait();
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, HasSubstr("rank 1 (10.77.0.2)"));
  }
}

// Method: the range has no port but its first, at which no group listens. Ranks 0 and 1 make a pair
// of two hosts. Rank 2 is alone, and may learn of their failure or not.
TEST_F(ByHandHostsTest, AGroupOfTwoHostsIsRefusedWithoutAFreePortOfTheRange) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{}, std::vector<std::string>{"HOST_OF_ALL=alike"}}) {
    variables_ = {"ROTA_PORTS=7700-7700"};
    variables_.insert(variables_.end(), names.begin(), names.end());
    const auto ranks = start_all("1");
    for (const std::size_t rank : {0, 1}) {
      const Result result = ranks[rank]->wait();
      EXPECT_EQ(result.exit_code, 3) << names.size() << " names, rank " << rank;
      EXPECT_THAT(result.err, HasSubstr("none of the ports 7700 to 7700 (ROTA_PORTS) of 10.77.0."));
    }
    EXPECT_TRUE(ranks[2]->wait().was_in_time);
  }
}

// A host that vanishes closes no connection: only the deadline ends the wait. The rank with the
// first deadline may blame a rank that itself waits for the lost rank. The error must name the lost
// rank.
TEST_F(ByHandHostsTest, AHostThatVanishesIsNamedAtTheDeadline) {
  const auto ranks = start_all("100000");
  for (const auto& rank : ranks) ASSERT_TRUE(rank->wait_for("sum 6"));
  network_->cut(2);
  for (const std::size_t rank : {0, 1}) {
    const Result result = ranks[rank]->wait();
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, HasSubstr("rank 2 (10.77.0.3)"));
  }
  EXPECT_EQ(ranks[2]->wait().exit_code, 3);
}

// The ranks get only what a scheduler gives: the tasks' addresses, and a file with the key.
TEST_F(ByHandHostsTest, RanksMeetAcrossHostsByTfConfig) {
  const std::string key_file = ::testing::TempDir() + "tf_config_key_" + std::to_string(::getpid());
  std::ofstream(key_file) << kKey;
  std::filesystem::permissions(key_file, std::filesystem::perms::owner_read);
  std::string workers;
  for (std::size_t host = 0; host < network_->host_count(); ++host) {
    workers += (host == 0 ? "\"" : ",\"") + network_->address(host) + ":7001\"";
  }
  std::vector<std::unique_ptr<Process>> ranks;
  for (std::size_t rank = 0; rank < network_->host_count(); ++rank) {
    Command command{
        .arguments = {test_path("environment_rank")},
        .environment = {R"(TF_CONFIG={"cluster":{"worker":[)" + workers +
                            R"(]},"task":{"type":"worker","index":)" + std::to_string(rank) + "}}",
                        "ROTA_KEY_FILE=" + key_file}};
    ranks.push_back(std::make_unique<Process>(network_->on(rank, std::move(command))));
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Result result = ranks[rank]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "rank " + std::to_string(rank) + " of 3 by TF_CONFIG: 6\n");
  }
  std::filesystem::remove(key_file);
}

// The launcher says that both ranks are on one machine, but each is in a container with a network
// of its own. A named key leads them to the address of rank 0.
TEST_F(ByHandHostsTest, RanksOfOneMachineMeetAcrossContainersWithAKey) {
  const std::string key_file = ::testing::TempDir() + "container_key_" + std::to_string(::getpid());
  std::ofstream(key_file) << kKey;
  std::filesystem::permissions(key_file, std::filesystem::perms::owner_read);
  const auto run_both = [&](const std::vector<std::string>& more) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const std::string number = std::to_string(rank);
      Command command{
          .arguments = {test_path("environment_rank"), "transport"},
          .environment = {"RANK=" + number, "WORLD_SIZE=2", "LOCAL_RANK=" + number,
                          "LOCAL_WORLD_SIZE=2", "GROUP_WORLD_SIZE=1",
                          "MASTER_ADDR=" + network_->address(0), "MASTER_PORT=7001",
                          "TORCHELASTIC_USE_AGENT_STORE=True", "TORCHELASTIC_RUN_ID=none"}};
      command.environment.insert(command.environment.end(), more.begin(), more.end());
      ranks.push_back(std::make_unique<Process>(network_->on(rank, std::move(command))));
    }
    const Result of_rank_0 = ranks[0]->wait();
    return std::vector<Result>{of_rank_0, ranks[1]->wait()};
  };
  for (const Result& result : run_both({"ROTA_KEY_FILE=", "JOIN_SECONDS=2"})) {
    EXPECT_EQ(result.exit_code, 3) << result.out;
    EXPECT_THAT(result.err, HasSubstr("set ROTA_KEY_FILE for all of them"));
  }
  for (const Result& result : run_both({"ROTA_KEY_FILE=" + key_file})) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("of 2 by torchrun over tcp: 3\n"));
  }
  std::filesystem::remove(key_file);
}

// A launcher has a store, through which rank 1 learns the address of rank 0.
// Method: rank 1 enters the network of the other host before it starts the program.
TEST_F(ByHandHostsTest, RanksOfOneMachineMeetAcrossContainersThroughAStoreWithAKey) {
  const std::string mpiexec = "/usr/bin/mpiexec.mpich";
  if (!std::filesystem::exists(mpiexec)) GTEST_SKIP() << "mpich is not installed";
  const std::string key_file = ::testing::TempDir() + "store_key_" + std::to_string(::getpid());
  std::ofstream(key_file) << kKey;
  std::filesystem::permissions(key_file, std::filesystem::perms::owner_read);
  const std::string program = test_path("environment_rank") + " transport";
  const std::string script = "[ $PMI_RANK = 0 ] || exec " + network_->command_prefix(1) + " " +
                             program + "; exec " + program;
  const auto run_both = [&](std::vector<std::string> environment) {
    environment.emplace_back("HOME=/nonexistent");
    return run(
        network_->on(0, {.arguments = {mpiexec, "-localhost", network_->address(0), "-hosts",
                                       network_->address(0), "-np", "2", "/bin/sh", "-c", script},
                         .environment = std::move(environment)}));
  };
  const Result without = run_both({"ROTA_KEY_FILE=", "JOIN_SECONDS=2"});
  EXPECT_NE(without.exit_code, 0);
  EXPECT_THAT(without.err, HasSubstr("set ROTA_KEY_FILE for all of them to a file of 32 random "
                                     "bytes or more; then they meet over TCP"));
  const Result with = run_both({"ROTA_KEY_FILE=" + key_file});
  EXPECT_EQ(with.exit_code, 0) << with.err;
  for (const std::string rank : {"0", "1"}) {
    EXPECT_THAT(with.out, HasSubstr("rank " + rank + " of 2 by PMI over tcp: 3\n"));
  }
  std::filesystem::remove(key_file);
}

// MPICH's launcher starts two ranks on each of two hosts, and has a store. So the ranks need no key
// and no address from a person. Ranks of one host share memory. Where ranks are dealt out in turn,
// rank 1 calls rank 2, which is on rank 0's host.
TEST_F(ByHandHostsTest, RanksMeetAcrossHostsThroughTheStoreOfTheirLauncher) {
  const std::string mpiexec = "/usr/bin/mpiexec.mpich";
  if (!std::filesystem::exists(mpiexec)) GTEST_SKIP() << "mpich is not installed";
  const std::string agent = ::testing::TempDir() + "agent_" + std::to_string(::getpid());
  std::ofstream(agent) << "#!/bin/sh\nwhile [ \"$1\" != " + network_->address(1) +
                              " ]; do shift; done; shift\nexec " + network_->command_prefix(1) +
                              " sh -c \"$*\"\n";
  std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
  for (const std::string in_a_row : {"1", "2"}) {
    const Command command{
        .arguments = {mpiexec, "-launcher", "ssh", "-launcher-exec", agent, "-localhost",
                      network_->address(0), "-hosts",
                      network_->address(0) + "," + network_->address(1), "-ppn", in_a_row, "-np",
                      "4", test_path("environment_rank"), "transport"},
        .environment = {"HOME=/nonexistent", "ROTA_KEY_FILE="}};
    const Result result = run(network_->on(0, command));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const std::string rank : {"0", "1", "2", "3"}) {
      EXPECT_THAT(result.out, HasSubstr("rank " + rank + " of 4 by PMI over shm+tcp: 10\n"));
    }
  }
  std::filesystem::remove(agent);
}

// Method: the data of the leaving senders takes about five seconds to arrive.
TEST_F(ByHandHostsTest, WhatARankSentBeforeItLeftArrivesHoweverSlowly) {
  for (const std::size_t host : {1, 2}) network_->limit_rate(host, "2mbit");
  gathered_ = "300000";
  const auto ranks = start_all("1");
  const Result result = ranks[0]->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("gathered 1"));
}

TEST_F(ByHandHostsTest, AddressesThatOthersReachNeedAKey) {
  const Result result = start(0, "1", "")->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("so the ranks need a key"));
}

}  // namespace
}  // namespace rota::testing

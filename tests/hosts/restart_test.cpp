// After the loss of a host, the hosts that a controller restarts form a new world, even while the
// old world is still ending.
#include <signal.h>

#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

class Restart : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (network_) environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  }

  using Processes = std::vector<std::unique_ptr<Process>>;

  Processes start_first_world() const {
    Processes all = start_all({"/bin/sh", "-c", "echo ready; exec sleep 1000"});
    for (const auto& each : all) EXPECT_TRUE(each->wait_for("ready"));
    return all;
  }

  std::unique_ptr<Process> start_again(std::size_t host) const {
    return start(host, {"--join-timeout", "60", rank_program()});
  }

  // Kills both processes of rotarun together, as if a container ran out of memory.
  static void kill_all_of(const Process& process) {
    const std::string pid = std::to_string(process.pid());
    std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
    process.signal(SIGKILL);
  }

  static void expect_lost(Process& process) {
    const Result result = process.wait();
    EXPECT_EQ(result.exit_code, 201) << result.err;
  }

  static void expect_success(Processes& all) {
    for (std::size_t host = 0; host < all.size(); ++host) {
      const Result result = all[host]->wait();
      EXPECT_EQ(result.exit_code, 0) << host << ": " << result.err;
      EXPECT_THAT(result.out, HasSubstr("rank " + std::to_string(host) + " of 3 on "));
      EXPECT_THAT(result.out, HasSubstr(": sum 6"));
    }
  }
};

// Method: the ranks of the old world ignore SIGTERM, so the killed host comes back while the old
// world is still ending.
TEST_F(Restart, OfOneWaitsUntilTheWorldThatItWasInHasEnded) {
  Processes all = start_all(
      {"--grace", "3", "/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("ready"));
  Processes next(3);
  kill_all_of(*all[1]);
  next[1] = start_again(1);
  for (const std::size_t host : {0, 2}) {
    expect_lost(*all[host]);
    next[host] = start_again(host);
  }
  expect_success(next);
}

TEST_F(Restart, MayBeOfTheLeaderAlone) {
  Processes all = start_first_world();
  Processes next(3);
  kill_all_of(*all[0]);
  next[0] = start_again(0);
  for (const std::size_t host : {1, 2}) {
    expect_lost(*all[host]);
    next[host] = start_again(host);
  }
  expect_success(next);
}

// Method: only the outer process of the leader's rotarun is killed. Its inner process asks the
// ranks to end, which they ignore, and holds the port until the ranks are gone.
TEST_F(Restart, OfALeaderWaitsForThePortOfTheOneBefore) {
  Processes all = start_all(
      {"--grace", "3", "/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("ready"));
  Processes next(3);
  all[0]->signal(SIGKILL);
  next[0] = start_again(0);
  for (const std::size_t host : {1, 2}) {
    expect_lost(*all[host]);
    next[host] = start_again(host);
  }
  expect_success(next);
}

// A leader may be restarted too, after a host has connected to the leader and before the job has
// begun.
TEST_F(Restart, OfALeaderThatStillWaitsIsNoEndForThoseWhoHaveCome) {
  const auto old_leader = start(0, {"echo", "old"});
  Processes next(3);
  next[1] = start_again(1);
  ASSERT_TRUE(old_leader->wait_for("waiting at 10.77.0.1:7700 for 1 of 3 hosts: host 2"));
  kill_all_of(*old_leader);
  EXPECT_TRUE(next[1]->wait_for("lost host 0 (10.77.0.1) at 10.77.0.1:7700"));
  next[0] = start_again(0);
  next[2] = start_again(2);
  expect_success(next);
}

// A Kubernetes Job does this: it starts the new pod of an index while the earlier pod, which was
// asked to end, may still run.
TEST_F(Restart, OfOneMayComeWhileTheOneBeforeItStillEnds) {
  Processes all = start_all(
      {"--grace", "3", "/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("ready"));
  Processes next(3);
  all[1]->signal(SIGTERM);
  ASSERT_TRUE(all[0]->wait_for("host 1 (10.77.0.2) got SIGTERM"));
  next[1] = start_again(1);
  for (const std::size_t host : {0, 2}) {
    EXPECT_EQ(all[host]->wait().exit_code, 143);
    next[host] = start_again(host);
  }
  EXPECT_EQ(all[1]->wait().exit_code, 143);
  expect_success(next);
}

// A Job that is deleted and made anew keeps its name, and so the name of host 0. Its first hosts
// may come while the ranks of the old job still end, and it may have more of them.
TEST_F(Restart, OfALargerJobWaitsForTheEndOfTheOneBefore) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1})};
  Processes old;
  for (const std::size_t host : {0, 1}) {
    old.push_back(start(host, {"--grace", "3", "/bin/sh", "-c",
                               "trap '' TERM; echo ready; while :; do sleep 1; done"}));
  }
  for (const auto& each : old) ASSERT_TRUE(each->wait_for("ready"));
  old[0]->signal(SIGTERM);
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  Processes next(3);
  next[2] = start_again(2);
  for (const std::size_t host : {0, 1}) {
    EXPECT_EQ(old[host]->wait().exit_code, 143);
    next[host] = start_again(host);
  }
  expect_success(next);
}

// Method: the hosts have torchrun's variables, which count the restarts of a job as a JobSet does.
// The hosts stop and start independently of each other.
TEST_F(Restart, IsOfAnEpochOfItsOwn) {
  const auto declare = [this](std::size_t host, int epoch) {
    environment_ = {"RANK=" + std::to_string(host),
                    "WORLD_SIZE=3",
                    "LOCAL_RANK=0",
                    "LOCAL_WORLD_SIZE=1",
                    "GROUP_WORLD_SIZE=3",
                    "MASTER_ADDR=10.77.0.1",
                    "MASTER_PORT=7700",
                    "TORCHELASTIC_RESTART_COUNT=" + std::to_string(epoch)};
  };
  declare(0, 0);
  const auto old_leader = start(0, {"echo", "old"});
  declare(1, 0);
  const auto old_follower = start(1, {"--join-timeout", "60", "echo", "old"});
  ASSERT_TRUE(old_leader->wait_for("waiting at 10.77.0.1:7700 for 1 of 3 hosts"));
  Processes next(3);
  for (const std::size_t host : {1, 2}) {
    declare(host, 1);
    next[host] = start_again(host);
  }
  EXPECT_TRUE(next[2]->wait_for("not now: the job is in epoch 0, but the caller is in epoch 1"));
  old_leader->signal(SIGTERM);
  EXPECT_EQ(old_leader->wait().exit_code, 143);
  EXPECT_EQ(old_follower->wait().exit_code, 143);
  declare(0, 1);
  next[0] = start_again(0);
  expect_success(next);
}

}  // namespace
}  // namespace rota::testing

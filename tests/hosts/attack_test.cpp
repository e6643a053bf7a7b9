// Attackers of a job on several hosts are refused, and the job does not notice. If an attacker
// between two hosts changes their messages, the job ends. The attacker achieves nothing else.
#include <fstream>

#include "hosts/across_hosts.h"
#include "hosts/attacks.h"
#include "hosts/man_in_the_middle.h"
#include "os/process.h"
#include "os/tcp_socket.h"

namespace rota::testing {
namespace {

using Trick = ManInTheMiddle::Trick;

class AttackTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!network_) return;
    environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1}), "ROUNDS=400"};
  }

  // Returns host 0's launcher as a target, which attackers call in the same way as host 2. Each
  // attack then changes one part.
  Target launcher_target(std::size_t attacker) const {
    const launcher::HostPlan host_plan = host_plan_of(*network_, {1, 1, 1});
    const std::string shared = key_text('k');
    return {.network = *network_,
            .attacker = attacker,
            .address = host_plan.leader,
            .key = auth::job_key(std::as_bytes(std::span(shared)), host_plan.job_id),
            .identity = {.kind = auth::ConnectionKind::kHosts,
                         .job_id = launcher::to_bytes(host_plan.job_id),
                         .from = 2,
                         .to = 0}};
  }

  // Returns another rank as a target, which attackers call as rank 0 would, but with another key:
  // ranks use the data key, which is made with the salt, and the attacker does not know the salt.
  Target rank_target(std::size_t attacker, const std::string& address) const {
    Target target = launcher_target(attacker);
    target.address = address;
    target.identity = {.kind = auth::ConnectionKind::kData, .from = 0, .to = 1};
    return target;
  }

  // Lets rank 0 reach the other ranks, which wait for its call, or blocks it.
  void let_rank_0_call(bool may_call) const {
    network_->configure(0, std::string("ip rule ") + (may_call ? "del" : "add") +
                               " ipproto tcp dport 7701 unreachable");
  }

  void expect_second_instance_refused() {
    const Result second = start(1, {"echo", "started"})->wait();
    EXPECT_EQ(second.exit_code, 202);
    EXPECT_EQ(second.out, "");
    EXPECT_THAT(second.err, HasSubstr("host 1 (10.77.0.2) has already joined, on "));
    EXPECT_THAT(second.err, HasSubstr("and is alive: this is another instance of it"));
  }
};

// Method: the same attacks come while the hosts gather, while their ranks meet, and while the ranks
// work.
TEST_F(AttackTest, NobodyGetsInWhoIsNotMeantTo) {
  const Target launcher = launcher_target(2);
  std::vector<std::unique_ptr<Process>> all;
  all.push_back(start(0, {rank_program()}));
  all.push_back(start(1, {rank_program()}));
  ASSERT_TRUE(all[0]->wait_for("for 1 of 3 hosts: host 2"));
  expect_refused(attacks_without_the_key(), launcher);
  expect_refused(attacks_with_the_key(), launcher);
  expect_second_instance_refused();

  let_rank_0_call(false);
  all.push_back(start(2, {rank_program()}));
  expect_refused(attacks_without_the_key(), launcher);
  expect_refused(attacks_with_the_key(), launcher);
  expect_refused(attacks_without_the_key(), rank_target(2, "10.77.0.2:7701"));
  expect_refused(attacks_without_the_key(), rank_target(1, "10.77.0.3:7701"));
  expect_second_instance_refused();

  let_rank_0_call(true);
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("sum 6"));
  expect_refused(attacks_without_the_key(), launcher);
  expect_refused(attacks_with_the_key(), launcher);
  for (const auto& each : all) EXPECT_NE(state_of(each->pid()), 'Z') << "the job ended too early";
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("of 3 on "));
  }
}

// Returns the resident memory of a process and its descendants, in KiB.
std::size_t memory_of(pid_t pid) {
  std::vector<pid_t> family = os::descendants_of(pid);
  family.push_back(pid);
  std::size_t kib = 0;
  for (const pid_t member : family) {
    std::ifstream status("/proc/" + std::to_string(member) + "/status");
    for (std::string word; status >> word;) {
      if (word != "VmRSS:") continue;
      std::size_t count = 0;
      status >> count;
      kib += count;
    }
  }
  return kib;
}

// Method: the strangers come before the third host, and stay as long as the launcher lets them. The
// limit is five times the allowed cost of a stranger.
TEST_F(AttackTest, AThousandStrangersCostLittleMemoryAndKeepNobodyOut) {
  environment_.back() = "ROUNDS=1";
  constexpr std::size_t kStrangers = 1000;
  [[maybe_unused]] constexpr std::size_t kMostKibEach = 5 * 4;
  std::vector<std::unique_ptr<Process>> all;
  all.push_back(start(0, {rank_program()}));
  all.push_back(start(1, {rank_program()}));
  ASSERT_TRUE(all[0]->wait_for("for 1 of 3 hosts: host 2"));
  const std::size_t before = memory_of(all[0]->pid());
  std::vector<os::Fd> strangers;
  network_->act_on(2, [&] {
    for (std::size_t i = 0; i < kStrangers; ++i) {
      strangers.push_back(std::move(os::start_connect(os::parse_address("10.77.0.1:7700")).socket));
    }
  });
  all.push_back(start(2, {rank_program()}));
  ASSERT_TRUE(all[2]->wait_for("sum 6"));
  const std::size_t after = memory_of(all[0]->pid());
#if !defined(ROTA_IS_SANITIZED)  // Sanitizers use more memory.
  EXPECT_LT(after, before + kStrangers * kMostKibEach);
#endif
  EXPECT_GE(after, before);
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("sum 6"));
  }
}

class ManInTheMiddleTest : public AttackTest {
 protected:
  void SetUp() override {
    AttackTest::SetUp();
    if (!network_) return;
    environment_ = {"ROTA_HOSTS=" + hosts({1, 1}), "ROUNDS=100000"};
    man_ = std::make_unique<ManInTheMiddle>(
        *network_, ManInTheMiddle::Place{.victim = 1, .own = 2, .leader = 0}, "10.77.0.1:7700");
  }
  void TearDown() override {
    man_.reset();
    AttackTest::TearDown();
  }

  void start_two() {
    all_.clear();
    for (const std::size_t host : {0, 1}) all_.push_back(start(host, {rank_program()}));
  }

  std::unique_ptr<ManInTheMiddle> man_;
  std::vector<std::unique_ptr<Process>> all_;
};

TEST_F(ManInTheMiddleTest, MayListen) {
  environment_.back() = "ROUNDS=1";
  start_two();
  for (const auto& each : all_) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("sum 3"));
  }
}

TEST_F(ManInTheMiddleTest, IsNoticedWhateverHeDoesToAFrame) {
  struct Case {
    Trick trick;
    const char* words;
  };
  const char* changed = "data on the connection was changed, repeated or reordered on its way";
  const Case cases[] = {{Trick::kFlipABit, changed},
                        {Trick::kRepeat, changed},
                        {Trick::kSwap, changed},
                        {Trick::kLeaveOut, changed},
                        {Trick::kLengthen, " bytes is longer than any message"}};
  for (const Case& each : cases) {
    for (const bool is_to_leader : {true, false}) {
      start_two();
      for (const auto& rotarun : all_) ASSERT_TRUE(rotarun->wait_for("sum 3"));
      man_->play(each.trick, is_to_leader);
      for (std::size_t host = 0; host < 2; ++host) {
        const Result result = all_[host]->wait();
        EXPECT_EQ(result.exit_code, 201) << result.err;
        EXPECT_THAT(result.err, HasSubstr("lost host " + std::to_string(1 - host)));
        const bool has_noticed = is_to_leader == (host == 0);
        EXPECT_THAT(result.err, HasSubstr(has_noticed ? each.words : "its launcher ended"));
      }
    }
  }
}

TEST_F(ManInTheMiddleTest, CannotTalkThemDownToAnotherSuite) {
  environment_.back() = "ROUNDS=1";
  man_->change_suites(true);
  start_two();
  ASSERT_TRUE(all_[1]->wait_for("it authenticates in another way: its suite is 0, ours is 1"));
  man_->change_suites(false);
  for (const auto& each : all_) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
}

}  // namespace
}  // namespace rota::testing

// Measures how soon all hosts know that a rank or a host is gone, as promised in
// docs/guide/several_hosts.md, "How it ends".
#include <csignal>

#include "hosts/across_hosts.h"
#include "timed/promised.h"

namespace rota::testing {
namespace {

class HostsNoticeInTime : public AcrossHosts {
 protected:
  using Jobs = std::vector<std::unique_ptr<Process>>;

  // Starts jobs, and waits until `ready` is printed on every host.
  Jobs started(const std::vector<std::string>& arguments, const std::string& ready) {
    Jobs all = start_all(arguments);
    for (const auto& each : all) EXPECT_TRUE(each->wait_for(ready)) << each->err();
    return all;
  }
};

TEST_F(HostsNoticeInTime, ThatARankIsKilled) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 2})};
  Jobs all = start_all({test_path("fault_ranks"), "kill", "3", "20000"});
  std::string err;
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 137) << each->err();
    err += each->err();
  }
  expect_promise(harm_in(err), seconds(1), "a rank that is killed");
}

TEST_F(HostsNoticeInTime, ThatARankIsStopped) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 2})};
  Jobs all = start_all({"--deadline", "1", test_path("fault_ranks"), "stop", "4", "20000"});
  std::string err;
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 201) << each->err();
    err += each->err();
  }
  expect_promise(harm_in(err), seconds(1) + milliseconds(500), "a rank that is stopped");
}

// Method: host 1 starts its ranks one after the other. A rank in the middle of them writes a file,
// and the last rank writes another file. SIGTERM comes between the two.
TEST_F(HostsNoticeInTime, ThatAHostIsAskedToEndWhileItsRanksStart) {
  constexpr std::size_t kCount = kManyRanks / 2;
  environment_ = {"ROTA_HOSTS=" + hosts({1, kCount, 1})};
  const std::string early = folder_ + "/early";
  const std::string last = folder_ + "/last";
  const std::string script = "case $ROTA_RANK in " + std::to_string(kCount / 4) + ") : >" + early +
                             ";; " + std::to_string(kCount) + ") : >" + last +
                             ";; esac; exec sleep 1000";
  Jobs all = start_all({"--ports", "7700-9000", "/bin/sh", "-c", script});
  const auto give_up = Clock::now() + seconds(30);
  while (!std::filesystem::exists(early) && Clock::now() < give_up) ::usleep(1000);
  const auto asked = Clock::now();
  all[1]->signal(SIGTERM);
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 143) << each->err();
  expect_promise(asked, seconds(1), "SIGTERM while ranks start");
  EXPECT_TRUE(std::filesystem::exists(early));
  EXPECT_FALSE(std::filesystem::exists(last)) << "the start was over before SIGTERM";
}

// A vanished host closes no connection.
TEST_F(HostsNoticeInTime, ThatAHostHasVanished) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1}), "ROUNDS=100000"};
  for (const std::size_t victim : {1, 0}) {
    if (victim == 0) network_ = std::make_unique<Network>(3);
    Jobs all = started({rank_program()}, "sum 6");
    const auto cut = Clock::now();
    network_->cut(victim);
    for (const auto& each : all) EXPECT_TRUE(each->wait_for("lost host ")) << each->err();
    expect_promise(cut, seconds(1), "host " + std::to_string(victim) + " that vanished");
    for (std::size_t host = 0; host < 3; ++host) {
      const Result result = all[host]->wait();
      EXPECT_EQ(result.exit_code, 201) << result.err;
      // A host that is cut off loses host 0. If host 0 itself is cut off, it reports one of the
      // other hosts as lost.
      const bool is_alone = host == 0 && victim == 0;
      const std::string who =
          victim == 1 && host == 1 ? "host 0" : "host " + std::to_string(victim);
      EXPECT_THAT(result.err, HasSubstr(is_alone ? "lost host " : "lost " + who));
      EXPECT_THAT(result.err, HasSubstr("its kernel no longer acknowledges anything"));
    }
    expect_promise(cut, seconds(1) + milliseconds(500), "the end without a host");
  }
}

// The kernel of the stopped launcher still acknowledges, so its host does not count as vanished.
TEST_F(HostsNoticeInTime, ThatALauncherIsSilentAndThenGiveItUp) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  Jobs all = started({"/bin/sh", "-c", kSayInner + "exec sleep 1000"}, "inner ");
  const int inner = std::stoi(all[2]->out().substr(all[2]->out().find("inner ") + 6));
  const auto stopped = Clock::now();
  ::kill(inner, SIGSTOP);
  EXPECT_TRUE(all[0]->wait_for("host 2 (10.77.0.3) is slow"));
  expect_promise(stopped, seconds(1), "a launcher that is slow");
  // Either the outer process of that host notices first, or the other hosts notice first.
  EXPECT_TRUE(all[0]->wait_for("lost host 2 (10.77.0.3): its launcher "));
  expect_promise(stopped, seconds(5), "a launcher that is silent");
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 201);
  EXPECT_THAT(all[2]->err(), HasSubstr("was stopped, or hung, for about 5 s"));
}

}  // namespace
}  // namespace rota::testing

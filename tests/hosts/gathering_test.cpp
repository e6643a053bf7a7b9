// If not all hosts join a job, each host prints the reason, and all hosts that have joined exit
// with the same code.
#include <signal.h>

#include <stop_token>
#include <thread>

#include "hosts/across_hosts.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"

namespace rota::testing {
namespace {

class Gathering : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (network_) environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  }
};

TEST_F(Gathering, NamesWhoIsAbsentAndEndsWith200) {
  const auto leader = start(0, {"--join-timeout", "7", "true"});
  const auto follower = start(1, {"--join-timeout", "20", "true"});
  EXPECT_TRUE(leader->wait_for("waiting at 10.77.0.1:7700 for 1 of 3 hosts: host 2 (10.77.0.3)"));
  for (const auto* each : {&leader, &follower}) {
    const Result result = (*each)->wait();
    EXPECT_EQ(result.exit_code, 200);
    EXPECT_THAT(result.err, HasSubstr("the job is not complete after 7"));
    EXPECT_THAT(result.err, HasSubstr("1 of 3 hosts: host 2 (10.77.0.3) did not connect"));
  }
}

TEST_F(Gathering, ALeaderThatIsAbsentIsNamedWithWhatIsInTheWay) {
  const Result result = start(1, {"--join-timeout", "1", "true"})->wait();
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("host 0 (10.77.0.1) at 10.77.0.1:7700 was not reached"));
  EXPECT_THAT(result.err, HasSubstr("Connection refused"));
}

TEST_F(Gathering, AnotherKeyIsNamedOnBothSides) {
  const auto leader = start(0, {"--join-timeout", "3", "true"});
  key_file_ = write_key("other", key_text('o'));
  const Result follower = start(1, {"--join-timeout", "2", "true"})->wait();
  EXPECT_EQ(follower.exit_code, 77);
  EXPECT_THAT(follower.err, HasSubstr("another key"));
  const Result result = leader->wait();
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("it holds another key"));
}

// If strangers flood a port, it hangs up on callers whose answer takes time. Such a caller must not
// blame the key.
TEST_F(Gathering, APortThatHangsUpSaysNothingOfKeys) {
  os::Listener port;
  network_->act_on(0, [&] { port = os::listen_on(os::parse_address("10.77.0.1:7700")); });
  std::jthread hanging_up([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      os::PollSet polls;
      polls.add(port.socket.get(), true, false);
      polls.wait(base::Clock::now() + std::chrono::milliseconds(20));
      os::accept_connection(port.socket.get());
    }
  });
  const Result result = start(1, {"--join-timeout", "1", "true"})->wait();
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("it closed the connection and gave no reason"));
  EXPECT_THAT(result.err, Not(HasSubstr("key")));
}

TEST_F(Gathering, WithoutAKeyNothingStarts) {
  key_file_ = folder_ + "/none";
  const Result result = start(0, {"true"})->wait();
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_THAT(result.err, HasSubstr(key_file_));
}

// Method: the follower is given another number of slots for host 2 than the leader.
TEST_F(Gathering, HostsThatWereToldDifferentThingsEndWith78) {
  const auto leader = start(0, {"--join-timeout", "3", "true"});
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 2})};
  const Result follower = start(1, {"--join-timeout", "2", "true"})->wait();
  EXPECT_EQ(follower.exit_code, 78);
  EXPECT_THAT(follower.err, HasSubstr("the hosts were told different things"));
  EXPECT_THAT(follower.err, AllOf(HasSubstr("10.77.0.3 with 1"), HasSubstr("10.77.0.3 with 2")));
  EXPECT_EQ(leader->wait().exit_code, 200);
}

TEST_F(Gathering, ADirectoryThatCannotBeMadeOnOneHostEndsAllWith2) {
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < 3; ++host) {
    const std::string directory = host == 2 ? "/proc/none" : folder_ + "/out";
    all.push_back(start(host, {"--output-filename", directory, "true"}));
  }
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("host 2 (10.77.0.3): --output-filename"));
  }
}

TEST_F(Gathering, MoreRanksThanSlotsEndsAllWith2) {
  for (const auto& each : start_all({"-np", "4", "true"})) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--np 4: the 3 hosts have 3 slots"));
  }
}

TEST_F(Gathering, AListMayNameAHostAsRotaHostSays) {
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < 3; ++host) {
    const std::string others = ":1,second:1,third:1";
    environment_ = {"ROTA_HOSTS=" + network_->address(0) + others,
                    "ROTA_HOST=" + (host == 0   ? network_->address(0)
                                    : host == 1 ? std::string("second")
                                                : std::string("third"))};
    all.push_back(start(host, {rank_program()}));
  }
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_THAT(all[2]->out(), HasSubstr("rank 2 of 3 on third: sum 6"));
}

// Each pod has its own probe, which asks its own host.
TEST_F(Gathering, EachHostAnswersAtItsStatusPort) {
  const std::vector<std::string> command = {"--status-port", "127.0.0.1:8099", "/bin/sh", "-c",
                                            "echo ready; exec sleep 3"};
  const auto ask = [&](std::size_t host, const std::string& path) {
    return run(network_->on(host, {.arguments = {"/bin/bash", "-c",
                                                 "exec 3<>/dev/tcp/127.0.0.1/8099; printf 'GET " +
                                                     path + " HTTP/1.0\r\n\r\n' >&3; cat <&3"}}));
  };
  const auto leader = start(0, command);
  const auto second = start(1, command);
  EXPECT_TRUE(leader->wait_for("waiting at"));
  EXPECT_THAT(ask(0, "/livez").out, HasSubstr("200 OK"));
  EXPECT_THAT(ask(0, "/readyz").out,
              AllOf(HasSubstr("503"), HasSubstr("1 of 3 hosts: host 2 (10.77.0.3)")));
  EXPECT_THAT(ask(1, "/readyz").out, AllOf(HasSubstr("503"), HasSubstr("has not begun")));
  const auto third = start(2, command);
  for (const auto* each : {&leader, &second, &third}) EXPECT_TRUE((*each)->wait_for("ready"));
  for (const std::size_t host : {0, 1, 2}) {
    EXPECT_THAT(ask(host, "/readyz").out, HasSubstr("200 OK")) << host;
  }
  for (const auto* each : {&leader, &second, &third}) EXPECT_EQ((*each)->wait().exit_code, 0);
}

// After the success each host stays until it is asked to end. If a new rotarun connects to host 0
// during that time, host 0 tells the new one that it is too late.
TEST_F(Gathering, HostsMayStayWhenAllIsDone) {
  const auto all =
      start_all({"--status-port", "127.0.0.1:8099", "--when-done", "wait", rank_program()});
  const auto ask = [&](std::size_t host, const std::string& path) {
    return run(network_->on(host, {.arguments = {"/bin/bash", "-c",
                                                 "exec 3<>/dev/tcp/127.0.0.1/8099; printf 'GET " +
                                                     path + " HTTP/1.0\r\n\r\n' >&3; cat <&3"}}))
        .out;
  };
  for (const auto& each : all) EXPECT_TRUE(each->wait_for("done: every rank ended with 0"));
  for (const std::size_t host : {0, 1, 2}) {
    EXPECT_THAT(ask(host, "/readyz"), AllOf(HasSubstr("200 OK"), HasSubstr("\r\n\r\ndone")));
    EXPECT_THAT(ask(host, "/livez"), HasSubstr("200 OK"));
    EXPECT_THAT(ask(host, "/ranks"), AllOf(HasSubstr("\"ended\""), Not(HasSubstr("\"running\""))));
  }
  all[1]->signal(SIGTERM);
  EXPECT_EQ(all[1]->wait().exit_code, 0);
  const Result late = start(1, {"--join-timeout", "1", "true"})->wait();
  EXPECT_EQ(late.exit_code, 200);
  EXPECT_THAT(late.err, HasSubstr("not now: the job is done: every rank ended with 0"));
  for (const std::size_t host : {2, 0}) {
    all[host]->signal(SIGTERM);
    EXPECT_EQ(all[host]->wait().exit_code, 0);
  }
}

TEST_F(Gathering, EachHostLeavesTheSameTerminationMessage) {
  std::vector<std::unique_ptr<Process>> all;
  const std::vector<std::string> given = environment_;
  for (const std::size_t host : {0, 1, 2}) {
    const std::string log = folder_ + "/termination-log-" + std::to_string(host);
    std::ofstream(log) << "before";
    environment_ = given;
    environment_.push_back("ROTA_TERMINATION_LOG=" + log);
    all.push_back(start(
        host, {"/bin/sh", "-c", "[ $ROTA_RANK = 2 ] || exec sleep 100; echo oh >&2; exit 7"}));
  }
  for (const std::size_t host : {0, 1, 2}) {
    EXPECT_EQ(all[host]->wait().exit_code, 7);
    std::ifstream log(folder_ + "/termination-log-" + std::to_string(host));
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    EXPECT_THAT(text, ::testing::StartsWith("rank 2 (pid ")) << host;
    EXPECT_THAT(text, ::testing::EndsWith("its last lines of stderr:\n  oh\nexit code 7\n"));
  }
}

TEST_F(Gathering, ASecondInstanceOfAHostIsRefusedWhileTheFirstLives) {
  const auto leader = start(0, {"/bin/sh", "-c", "echo ready; exec sleep 2"});
  const auto first = start(1, {"/bin/sh", "-c", "echo ready; exec sleep 2"});
  const Result second = [&] {
    const auto third = start(2, {"/bin/sh", "-c", "echo ready; exec sleep 2"});
    EXPECT_TRUE(third->wait_for("ready"));
    Result refused = start(1, {"echo", "started"})->wait();
    EXPECT_EQ(third->wait().exit_code, 0);
    return refused;
  }();
  EXPECT_EQ(second.exit_code, 202);
  EXPECT_EQ(second.out, "");
  EXPECT_THAT(second.err, HasSubstr("host 1 (10.77.0.2) has already joined"));
  EXPECT_EQ(first->wait().exit_code, 0);
  EXPECT_EQ(leader->wait().exit_code, 0);
}

TEST_F(Gathering, AHostThatWentAwayMayComeAgain) {
  const auto leader = start(0, {"echo", "started"});
  {
    const auto lost = start(1, {"-v", "echo", "started"});
    EXPECT_TRUE(leader->wait_for("waiting at"));
    lost->signal(SIGKILL);
  }
  EXPECT_TRUE(leader->wait_for("host 1 (10.77.0.2) has left: "));
  const auto again = start(1, {"echo", "started"});
  const auto third = start(2, {"echo", "started"});
  for (const auto* each : {&leader, &again, &third}) {
    const Result result = (*each)->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "started\n");
  }
}

TEST_F(Gathering, APortInUseIsNamed) {
  const auto holder = start(0, {"--join-timeout", "20", "true"});
  EXPECT_TRUE(holder->wait_for("waiting at"));
  const Result result = start(0, {"true"})->wait();
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr("10.77.0.1:7700"));
  EXPECT_THAT(result.err, HasSubstr("in use"));
}

TEST_F(Gathering, ASignalWhileWaitingEndsIt) {
  const auto leader = start(0, {"true"});
  const auto follower = start(1, {"true"});
  EXPECT_TRUE(leader->wait_for("waiting at"));
  leader->signal(SIGTERM);
  for (const auto* each : {&leader, &follower}) {
    const Result result = (*each)->wait();
    EXPECT_EQ(result.exit_code, 143);
    EXPECT_THAT(result.err, HasSubstr("host 0 (10.77.0.1) got SIGTERM before the job began"));
  }
}

}  // namespace
}  // namespace rota::testing

// Hosts that do not come together: each says why, and all that met exit with the same code.
#include "hosts/across_hosts.h"

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
    EXPECT_THAT(result.err, HasSubstr("1 of 3 hosts: host 2 (10.77.0.3) did not come"));
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
  key_file_ = write_key("other", std::string(40, 'o'));
  const Result follower = start(1, {"--join-timeout", "2", "true"})->wait();
  EXPECT_EQ(follower.exit_code, 77);
  EXPECT_THAT(follower.err, HasSubstr("another key"));
  const Result result = leader->wait();
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("it holds another key"));
}

TEST_F(Gathering, WithoutAKeyNothingStarts) {
  key_file_ = folder_ + "/none";
  const Result result = start(0, {"true"})->wait();
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_THAT(result.err, HasSubstr(key_file_));
}

// Method: the follower was told of other slots on host 2.
TEST_F(Gathering, HostsThatWereToldDifferentThingsEndWith78) {
  environment_.push_back("JOB=1");
  const auto leader = start(0, {"--join-timeout", "3", "true"});
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 2})};
  const Result follower = start(1, {"--join-timeout", "2", "true"})->wait();
  EXPECT_NE(follower.exit_code, 0);
  EXPECT_THAT(follower.err, HasSubstr("another"));
  EXPECT_EQ(leader->wait().exit_code, 200);
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
  EXPECT_THAT(second.err, HasSubstr("host 1 (10.77.0.2) is here already"));
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
  EXPECT_TRUE(leader->wait_for("host 1 (10.77.0.2) has gone again"));
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

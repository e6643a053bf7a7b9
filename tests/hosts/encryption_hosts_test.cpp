// With encryption nobody on the way can read what hosts and ranks send. Either all hosts encrypt or
// none. Method: an eavesdropper between two hosts passes on all bytes, and keeps a copy.
#include "hosts/across_hosts.h"
#include "hosts/man_in_the_middle.h"

namespace rota::testing {
namespace {

// Returns four values in a row, as they are in memory. The two ranks add 1 and 2.
std::string payload_of(double value) {
  const double values[] = {value, value, value, value};
  return {reinterpret_cast<const char*>(values), sizeof values};
}

// A part of a host's introduction.
const std::string kControlText = "2 hosts that meet at 10.77.0.1:7700";

class EncryptionTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!network_) return;
    network_ = std::make_unique<Network>(4);  // The last two hosts are for the eavesdroppers.
    environment_ = {"ROTA_HOSTS=" + hosts({1, 1}), "ROUNDS=5"};
  }

  // The bytes on the wire between the launchers, and between the ranks.
  struct Overheard {
    std::string control;
    std::string data;
  };

  Overheard overhear(const std::vector<std::string>& arguments) const {
    using Place = ManInTheMiddle::Place;
    ManInTheMiddle at_launchers(*network_, Place{.victim = 1, .own = 2, .leader = 0},
                                "10.77.0.1:7700");
    ManInTheMiddle at_ranks(*network_, Place{.victim = 0, .own = 3, .leader = 1}, "10.77.0.2:7701");
    at_launchers.only_listen();
    at_ranks.only_listen();
    std::vector<std::unique_ptr<Process>> all;
    for (const std::size_t host : {0, 1}) all.push_back(start(host, arguments));
    for (const auto& each : all) {
      const Result result = each->wait();
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_THAT(result.out, HasSubstr("sum 3"));
    }
    return {at_launchers.heard(), at_ranks.heard()};
  }
};

TEST_F(EncryptionTest, IsWhatKeepsListenersFromReading) {
  const Overheard heard = overhear({"--encrypt", "--join-timeout", "30", rank_program()});
  EXPECT_GT(heard.control.size(), 1000U);
  EXPECT_GT(heard.data.size(), 5 * 1000 * sizeof(double));
  EXPECT_EQ(heard.control.find(kControlText), std::string::npos);
  for (const double value : {1, 2, 3}) {
    EXPECT_EQ(heard.data.find(payload_of(value)), std::string::npos) << value;
  }
}

// Shows that the eavesdropper would find these bytes if the hosts did not encrypt.
TEST_F(EncryptionTest, IsMissedWhereItIsNotAskedFor) {
  const Overheard heard = overhear({"--join-timeout", "30", rank_program()});
  EXPECT_NE(heard.control.find(kControlText), std::string::npos);
  EXPECT_NE(heard.data.find(payload_of(3)), std::string::npos);  // Every plan sends the sum.
}

TEST_F(EncryptionTest, LetsRanksMeetOnUnevenHosts) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 3}), "ROTA_ENCRYPT=1"};
  std::vector<std::unique_ptr<Process>> all;
  for (const std::size_t host : {0, 1, 2}) all.push_back(start(host, {rank_program()}));
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out, HasSubstr("sum 21"));
  }
}

// The refused host may be started again; the others wait for it.
TEST_F(EncryptionTest, RefusesAHostThatDoesNotEncrypt) {
  const auto leader = start(0, {"--encrypt", rank_program()});
  const Result plain = start(1, {rank_program()})->wait();
  EXPECT_EQ(plain.exit_code, 78);
  EXPECT_THAT(plain.err, HasSubstr("rotarun: host 0 (10.77.0.1) at 10.77.0.1:7700 did not let this "
                                   "host in: it encrypts, and this side does not: let both sides "
                                   "encrypt (--encrypt, ROTA_ENCRYPT=1), or neither\n"));
  EXPECT_TRUE(leader->wait_for("the last caller who was turned away: it does not encrypt"));
  const Result encrypted = start(1, {"--encrypt", rank_program()})->wait();
  EXPECT_EQ(encrypted.exit_code, 0) << encrypted.err;
  EXPECT_EQ(leader->wait().exit_code, 0);
}

TEST_F(EncryptionTest, RefusesALeaderThatDoesNotEncrypt) {
  const auto leader = start(0, {rank_program()});
  const Result encrypted = start(1, {"--encrypt", rank_program()})->wait();
  EXPECT_EQ(encrypted.exit_code, 78);
  EXPECT_THAT(encrypted.err, HasSubstr("it does not encrypt, and this side does"));
  const Result plain = start(1, {rank_program()})->wait();
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(leader->wait().exit_code, 0);
}

TEST_F(EncryptionTest, KnowsAnotherKey) {
  const auto leader = start(0, {"--encrypt", "--join-timeout", "7", rank_program()});
  key_file_ = write_key("other", key_text('o'));
  const Result other = start(1, {"--encrypt", "--join-timeout", "4", rank_program()})->wait();
  EXPECT_EQ(other.exit_code, 77);
  EXPECT_THAT(other.err, HasSubstr("another key"));
  const Result result = leader->wait();
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("turned away: it holds another key"));
}

}  // namespace
}  // namespace rota::testing

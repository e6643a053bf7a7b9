// Tests connecting to a host by its name: the name is not known yet, has several addresses, or is
// unknown to every server. Method: the test has its own name server, and an acceptor in the same
// loop as the connector.
#include "auth/connector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "auth/acceptor.h"
#include "os/listener.h"
#include "testing/name_server.h"

namespace rota::auth {
namespace {

using base::Clock;
using base::TimePoint;
using std::chrono::milliseconds;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Behaviour = testing::NameServer::Behaviour;

class CallTest : public ::testing::Test {
 protected:
  Connector call(const std::string& host) const {
    return {host + ":" + port(), key_, {.from = 1}, options()};
  }

  names::Options options() const {
    return {.resolv_conf = "/dev/null", .hosts = "/dev/null", .servers = {server_.address()}};
  }

  std::string port() const { return os::split_address(listener_.address).port; }

  // Advances the call until it is over or `until` has passed.
  Connector::State advance(Connector& call, TimePoint until) {
    os::PollSet polls;
    Connector::State state = Connector::State::kCalling;
    while ((state = call.advance(Clock::now())) == Connector::State::kCalling &&
           Clock::now() < until) {
      guest_count_ += acceptor_.receive(Clock::now()).size();
      polls.clear();
      call.add_to(polls);
      acceptor_.add_to(polls, Clock::now());
      polls.wait(std::min(until, call.next_deadline().value_or(until)));
    }
    return state;
  }

  // Returns whether the call waits only for time to pass. If the call waits for a descriptor, waits
  // up to 5 ms for that descriptor.
  static bool is_pausing(const Connector& call) {
    const os::Wakeup nobody;
    os::PollSet polls;
    call.add_to(polls);
    if (polls.add(nobody.fd(), true, false) == 0) return true;
    polls.wait(Clock::now() + milliseconds(5));
    return false;
  }

  // Waits until the system has brought what one side has sent to the other.
  void wait_for_caller(TimePoint now) {
    os::PollSet polls;
    acceptor_.add_to(polls, now);
    polls.wait(Clock::now() + std::chrono::seconds(20));
  }
  static void wait_for_answer(const Connector& call) {
    os::PollSet polls;
    call.add_to(polls);
    polls.wait(Clock::now() + std::chrono::seconds(20));
  }

  Connector::State finish(Connector& call) {
    return advance(call, Clock::now() + std::chrono::seconds(20));
  }

  testing::NameServer server_;
  Key key_ = random_key();
  os::Listener listener_ = os::listen_on_loopback();
  Acceptor acceptor_{{.key = key_, .listener = listener_.socket.get()},
                     [](const Identity&) { return Admission(); }};
  std::size_t guest_count_ = 0;
};

TEST_F(CallTest, ReachesANameWhoseRecordAppearsLater) {
  Connector late = call("late.example");
  EXPECT_EQ(advance(late, Clock::now() + milliseconds(300)), Connector::State::kCalling);
  EXPECT_THAT(late.why(), StartsWith("no record yet (NXDOMAIN from 127.0.0.1:"));
  server_.add_address("late.example", "127.0.0.1");
  EXPECT_EQ(finish(late), Connector::State::kDone) << late.why();
  EXPECT_TRUE(late.take_stream());
  EXPECT_EQ(guest_count_, 1U);
}

// Only one of the addresses has a listener at the port.
TEST_F(CallTest, TriesAllAddressesOfAName) {
  for (const char* number : {"127.0.0.2", "127.0.0.1", "::1"}) {
    server_.add_address("many.example", number);
  }
  Connector many = call("many.example");
  EXPECT_EQ(finish(many), Connector::State::kDone) << many.why();
}

// A host that has vanished does not answer, and its name may soon have another address.
TEST_F(CallTest, AsksAgainWhereNobodyAnswers) {
  const os::Listener silent = os::listen_on(os::parse_address("127.0.0.1:0"));
  Connector call(silent.address, key_, {.from = 1}, options());
  const TimePoint start = Clock::now();
  EXPECT_EQ(call.advance(start), Connector::State::kCalling);
  EXPECT_EQ(call.advance(start + milliseconds(4900)), Connector::State::kCalling);
  EXPECT_THAT(call.why(), IsEmpty());
  EXPECT_EQ(call.advance(start + milliseconds(5100)), Connector::State::kCalling);
  EXPECT_EQ(call.why(), "it does not answer");
  EXPECT_TRUE(is_pausing(call));
}

// The peer accepts the call just before the call would end. The time of the answer counts anew, or
// else the peer would have a member that has hung up.
TEST_F(CallTest, GoesOnWhereAnAnswerHasBegunLate) {
  Connector late("127.0.0.1:" + port(), key_, {.from = 1}, options());
  const TimePoint start = Clock::now();
  EXPECT_EQ(late.advance(start), Connector::State::kCalling);
  const TimePoint last = start + milliseconds(4900);
  wait_for_caller(last);
  EXPECT_TRUE(acceptor_.receive(last).empty());
  wait_for_answer(late);
  EXPECT_EQ(late.advance(last), Connector::State::kCalling);
  EXPECT_EQ(late.advance(start + milliseconds(5100)), Connector::State::kCalling);
  wait_for_caller(last);
  EXPECT_EQ(acceptor_.receive(start + milliseconds(5200)).size(), 1U);
  wait_for_answer(late);
  EXPECT_EQ(late.advance(start + milliseconds(5300)), Connector::State::kDone) << late.why();
}

// The peer says that it holds another key, and then ends. Until the deadline of the call, its port
// refuses connections: this must not hide what the peer has said.
TEST_F(CallTest, RemembersTheAnswerOfAPeerThatIsGone) {
  Connector stranger("127.0.0.1:" + port(), random_key(), {.from = 1}, options());
  const TimePoint end = Clock::now() + std::chrono::seconds(20);
  while (!stranger.last_answer() && Clock::now() < end) {
    advance(stranger, Clock::now() + milliseconds(20));
  }
  ASSERT_TRUE(stranger.last_answer());
  EXPECT_EQ(stranger.last_answer()->verdict, Verdict::kOtherKey);
  listener_.socket.reset();
  while (!stranger.why().starts_with("Connection refused") && Clock::now() < end) {
    ASSERT_EQ(stranger.advance(Clock::now()), Connector::State::kCalling);
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(stranger.why(), "Connection refused");
  EXPECT_EQ(stranger.verdict(), Verdict::kNone);
  EXPECT_EQ(stranger.last_answer()->verdict, Verdict::kOtherKey);
  EXPECT_EQ(stranger.explanation(), kHasOtherKey);
}

TEST_F(CallTest, ExplainsByTheLastObstacleWithoutAnAnswer) {
  Connector number = call("127.0.0.1");
  listener_.socket.reset();
  const TimePoint end = Clock::now() + std::chrono::seconds(20);
  while (number.why().empty() && Clock::now() < end) {
    ASSERT_EQ(number.advance(Clock::now()), Connector::State::kCalling);
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_FALSE(number.last_answer());
  EXPECT_EQ(number.explanation(), "Connection refused");
}

TEST_F(CallTest, AsksNobodyForANumber) {
  Connector number = call("127.0.0.1");
  EXPECT_EQ(finish(number), Connector::State::kDone) << number.why();
  EXPECT_THAT(server_.questions(), IsEmpty());
}

// If the resolver blocked, the loop would stop for longer than any test may take.
TEST_F(CallTest, GivesWayWhileANameServerIsSilent) {
  server_.behave("", Behaviour::kIsSilent);
  names::Options patient = options();
  patient.patience = std::chrono::seconds(1000);
  Connector silent("silent.example:1", key_, {.from = 1}, patient);
  const TimePoint begin = Clock::now();
  EXPECT_EQ(silent.advance(begin), Connector::State::kCalling);
  EXPECT_EQ(silent.why(), "the lookup of its name has not finished");
  ASSERT_TRUE(silent.next_deadline());
  EXPECT_GT(*silent.next_deadline(), begin);
  EXPECT_EQ(advance(silent, begin + milliseconds(100)), Connector::State::kCalling);
}

TEST_F(CallTest, NamesANameServerThatIsSilent) {
  server_.behave("", Behaviour::kIsSilent);
  names::Options impatient = options();
  impatient.patience = milliseconds(60);
  Connector silent("silent.example:1", key_, {.from = 1}, impatient);
  const TimePoint end = Clock::now() + std::chrono::seconds(10);
  while (silent.why().find("does not answer") == std::string::npos && Clock::now() < end) {
    advance(silent, Clock::now() + milliseconds(20));
  }
  EXPECT_EQ(silent.why(), "the name server " + server_.address().to_text() + " does not answer");
}

// Method: the test moves the clock past each pause, so that the test does not wait.
TEST_F(CallTest, AsksANameServerLessAndLessOften) {
  Connector nobody = call("nobody.example");
  TimePoint now = Clock::now();
  std::vector<base::Duration> pauses;
  for (int i = 0; i < 10; ++i) {
    do {
      ASSERT_EQ(nobody.advance(now), Connector::State::kCalling);
    } while (!is_pausing(nobody));
    pauses.push_back(*nobody.next_deadline() - now);
    now = *nobody.next_deadline();
  }
  EXPECT_LT(pauses.front(), milliseconds(80));
  for (std::size_t i = 4; i < pauses.size(); ++i) {
    EXPECT_GE(pauses[i], milliseconds(640)) << i;
    EXPECT_LT(pauses[i], milliseconds(1280)) << i;
  }
}

}  // namespace
}  // namespace rota::auth

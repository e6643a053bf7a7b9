// An acceptor spends little of its time on strangers. The tests set the clock themselves.
#include "auth/acceptor.h"

#include <gtest/gtest.h>

#include "auth/bytes.h"
#include "auth/handshake_io.h"
#include "os/listener.h"
#include "os/tcp_socket.h"
#include "testing/few_descriptors.h"

namespace rota::auth {
namespace {

using std::chrono::milliseconds;

class ReceptionTest : public ::testing::Test {
 protected:
  os::Fd connect() const {
    os::Fd socket = os::start_connect(os::parse_address(listener_.address)).socket;
    os::PollSet polls;
    polls.add(socket.get(), false, true);
    polls.wait(base::Clock::now() + std::chrono::seconds(5));
    return socket;
  }

  // Returns a time by which all bytes of both sides have arrived, even on a slow machine.
  static base::TimePoint soon() { return base::Clock::now() + std::chrono::seconds(20); }

  // Returns whether the other side has hung up. Waits up to 200 ms for bytes that are on the way.
  static bool was_hung_up(const os::Fd& socket) {
    os::PollSet polls;
    polls.add(socket.get(), true, false);
    polls.wait(base::Clock::now() + milliseconds(200));
    Bytes heard(1000);
    os::receive_some(socket.get(), heard);
    return os::receive_some(socket.get(), heard).closed;
  }

  os::Fd stranger_who_was_hung_up_on() {
    os::Fd stranger = connect();
    os::send_some(stranger.get(), bytes_of("GET / HTTP/1.1\r\n\r\n"), {});
    acceptor_.receive(now_);
    EXPECT_TRUE(was_hung_up(stranger));
    return stranger;
  }

  os::Listener listener_ = os::listen_on_loopback();
  Acceptor acceptor_{{.key = some_key(), .listener = listener_.socket.get()},
                     [](const Identity&) { return Admission(); }};
  base::TimePoint now_{std::chrono::hours(1)};
};

TEST_F(ReceptionTest, SaysWhereAStrangerCalledFrom) {
  stranger_who_was_hung_up_on();
  EXPECT_EQ(acceptor_.last_complaint(), "it is not a rota program (it called from 127.0.0.1)");
}

TEST_F(ReceptionTest, RestsAfterAStranger) {
  stranger_who_was_hung_up_on();
  ASSERT_TRUE(acceptor_.next_deadline());
  const base::TimePoint end = *acceptor_.next_deadline();
  EXPECT_GT(end, now_);
  EXPECT_LE(end, now_ + milliseconds(10));

  const os::Fd next = connect();
  os::send_some(next.get(), bytes_of("GET / HTTP/1.1\r\n\r\n"), {});
  acceptor_.receive(end - milliseconds(1));
  EXPECT_FALSE(was_hung_up(next));
  acceptor_.receive(end);
  EXPECT_TRUE(was_hung_up(next));
}

TEST_F(ReceptionTest, LetsAMemberInWithoutARest) {
  Stream stream = connect();
  Handshake member = Handshake::call(some_key(), {});
  std::size_t member_count = 0;
  for (int turn = 0; turn < 1000 && member.state() == Handshake::State::kTalking; ++turn) {
    member_count += acceptor_.receive(now_).size();
    ASSERT_TRUE(advance(member, stream));
  }
  EXPECT_EQ(member.state(), Handshake::State::kDone);
  EXPECT_EQ(member_count, 1U);
  EXPECT_FALSE(acceptor_.next_deadline());
}

class EncryptedReceptionTest : public ReceptionTest {
 protected:
  EncryptedReceptionTest() {
    acceptor_ = Acceptor({.key = some_key(), .encrypts = true, .listener = listener_.socket.get()},
                         [](const Identity&) { return Admission(); });
  }
};

TEST_F(EncryptedReceptionTest, LetsAMemberInWithoutARest) {
  Stream stream = connect();
  Handshake member = Handshake::call(Credentials(some_key(), true), {});
  std::vector<Acceptor::Member> members;
  for (const auto end = soon();
       member.state() != Handshake::State::kDone && base::Clock::now() < end;) {
    for (auto& accepted : acceptor_.receive(now_)) members.push_back(std::move(accepted));
    ASSERT_TRUE(advance(member, stream));
  }
  ASSERT_EQ(members.size(), 1U);
  EXPECT_TRUE(members.front().stream.is_encrypted());
  EXPECT_FALSE(acceptor_.next_deadline());
}

// The slow peer sends the first bytes of an encrypted connection, one at a time.
TEST_F(EncryptedReceptionTest, HangsUpOnTheSlowAfterTwoSeconds) {
  const os::Fd slow = connect();
  const Bytes begin = from_hex("160301020001");
  for (std::size_t i = 0; i < begin.size(); ++i) {
    os::send_some(slow.get(), std::span(begin).subspan(i, 1), {});
    acceptor_.receive(now_ + kHandshakeTimeout * i / begin.size());
  }
  acceptor_.receive(now_ + kHandshakeTimeout);
  EXPECT_FALSE(was_hung_up(slow));
  acceptor_.receive(now_ + kHandshakeTimeout + milliseconds(1));
  EXPECT_TRUE(was_hung_up(slow));
}

TEST_F(EncryptedReceptionTest, KnowsWhoDoesNotEncrypt) {
  Stream stream = connect();
  Handshake member = Handshake::call(some_key(), {});
  for (const auto end = soon();
       member.state() != Handshake::State::kRefused && base::Clock::now() < end;) {
    EXPECT_TRUE(acceptor_.receive(now_).empty());
    ASSERT_TRUE(advance(member, stream));
  }
  EXPECT_TRUE(acceptor_.last_complaint().starts_with("it does not encrypt, and this side does"));
  EXPECT_TRUE(member.why().starts_with("it encrypts, and this side does not"));
}

// Returns the verdict for a caller that holds another key.
Verdict verdict_for_another_key(Acceptor& acceptor, Stream stream, bool encrypts) {
  Handshake member = Handshake::call(Credentials(random_key(), encrypts), {});
  const base::TimePoint now{std::chrono::hours(1)};
  for (const auto end = base::Clock::now() + std::chrono::seconds(20);
       member.verdict() == Verdict::kNone && base::Clock::now() < end;) {
    EXPECT_TRUE(acceptor.receive(now).empty());
    if (!advance(member, stream)) break;
  }
  return member.verdict();
}

TEST_F(ReceptionTest, TellsWhoHoldsAnotherKey) {
  EXPECT_EQ(verdict_for_another_key(acceptor_, connect(), false), Verdict::kOtherKey);
}

TEST_F(EncryptedReceptionTest, TellsWhoHoldsAnotherKey) {
  EXPECT_EQ(verdict_for_another_key(acceptor_, connect(), true), Verdict::kOtherKey);
}

TEST_F(ReceptionTest, HangsUpOnTheSilentAfterTwoSeconds) {
  const os::Fd silent = connect();
  acceptor_.receive(now_);
  EXPECT_EQ(acceptor_.next_deadline(), now_ + kHandshakeTimeout);
  acceptor_.receive(now_ + kHandshakeTimeout);
  EXPECT_FALSE(was_hung_up(silent));
  acceptor_.receive(now_ + kHandshakeTimeout + milliseconds(1));
  EXPECT_TRUE(was_hung_up(silent));
}

// Connections of strangers get at most a quarter of the acceptor's 256 descriptors.
TEST_F(ReceptionTest, KeepsNoMoreStrangersThanAShareOfTheDescriptors) {
  acceptor_ = testing::with_descriptor_limit(256, [&] {
    return Acceptor({.key = some_key(), .listener = listener_.socket.get()},
                    [](const Identity&) { return Admission(); });
  });
  std::vector<os::Fd> strangers;
  while (strangers.size() < 100) strangers.push_back(connect());
  for (int turn = 0; turn < 20; ++turn) acceptor_.receive(now_ + milliseconds(10) * turn);
  EXPECT_EQ(testing::ended_count(strangers, 36), 36U);
}

// The test's clock stands still, so a pause of the acceptor never ends.
TEST_F(ReceptionTest, RestsOnlyOnceItHasTakenInAllWhoWait) {
  acceptor_ = testing::with_descriptor_limit(256, [&] {
    return Acceptor({.key = some_key(), .listener = listener_.socket.get()},
                    [](const Identity&) { return Admission(); });
  });
  std::vector<os::Fd> strangers;
  while (strangers.size() < 300) strangers.push_back(connect());
  for (int turn = 0; turn < 400; ++turn) acceptor_.receive(now_);
  EXPECT_EQ(testing::ended_count(strangers, 236), 236U);
  EXPECT_LE(*acceptor_.next_deadline(), now_ + milliseconds(10));
}

// Expected members are let in even if they need more than a quarter of the descriptors.
TEST_F(ReceptionTest, KeepsAsManyAsAreExpected) {
  acceptor_ = testing::with_descriptor_limit(256, [&] {
    return Acceptor({.key = some_key(), .listener = listener_.socket.get(), .expected_count = 90},
                    [](const Identity&) { return Admission(); });
  });
  std::vector<os::Fd> strangers;
  while (strangers.size() < 100) strangers.push_back(connect());
  for (int turn = 0; turn < 20; ++turn) acceptor_.receive(now_ + milliseconds(10) * turn);
  EXPECT_EQ(testing::ended_count(strangers, 10), 10U);
}

}  // namespace
}  // namespace rota::auth

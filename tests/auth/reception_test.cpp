// Whoever receives callers gives little of its time to strangers. The tests say what time it is.
#include "auth/reception.h"

#include <gtest/gtest.h>

#include "auth/bytes.h"
#include "auth/exchange.h"
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

  // By then what both sides say has come, however slow this machine's loopback is.
  static base::TimePoint soon() { return base::Clock::now() + std::chrono::seconds(20); }

  // Whether the other side has hung up, once what it says has had time to come.
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
    reception_.receive(now_);
    EXPECT_TRUE(was_hung_up(stranger));
    return stranger;
  }

  os::Listener listener_ = os::listen_on_loopback();
  Reception reception_{{.key = some_key(), .listener = listener_.socket.get()},
                       [](const Identity&) { return Judgement(); }};
  base::TimePoint now_{std::chrono::hours(1)};
};

TEST_F(ReceptionTest, SaysWhereAStrangerCalledFrom) {
  stranger_who_was_hung_up_on();
  EXPECT_EQ(reception_.last_complaint(), "it is no rota (it called from 127.0.0.1)");
}

TEST_F(ReceptionTest, RestsAfterAStranger) {
  stranger_who_was_hung_up_on();
  ASSERT_TRUE(reception_.next_deadline());
  const base::TimePoint end = *reception_.next_deadline();
  EXPECT_GT(end, now_);
  EXPECT_LE(end, now_ + milliseconds(10));

  const os::Fd next = connect();
  os::send_some(next.get(), bytes_of("GET / HTTP/1.1\r\n\r\n"), {});
  reception_.receive(end - milliseconds(1));
  EXPECT_FALSE(was_hung_up(next));
  reception_.receive(end);
  EXPECT_TRUE(was_hung_up(next));
}

TEST_F(ReceptionTest, LetsAMemberInWithoutARest) {
  Stream stream = connect();
  Handshake member = Handshake::call(some_key(), {});
  std::size_t guest_count = 0;
  for (int turn = 0; turn < 1000 && member.state() == Handshake::State::kTalking; ++turn) {
    guest_count += reception_.receive(now_).size();
    ASSERT_TRUE(advance(member, stream));
  }
  EXPECT_EQ(member.state(), Handshake::State::kDone);
  EXPECT_EQ(guest_count, 1U);
  EXPECT_FALSE(reception_.next_deadline());
}

class EncryptedReceptionTest : public ReceptionTest {
 protected:
  EncryptedReceptionTest() {
    reception_ =
        Reception({.key = some_key(), .encrypts = true, .listener = listener_.socket.get()},
                  [](const Identity&) { return Judgement(); });
  }
};

TEST_F(EncryptedReceptionTest, LetsAMemberInWithoutARest) {
  Stream stream = connect();
  Handshake member = Handshake::call(Credentials(some_key(), true), {});
  std::vector<Reception::Guest> guests;
  for (const auto end = soon();
       member.state() != Handshake::State::kDone && base::Clock::now() < end;) {
    for (auto& guest : reception_.receive(now_)) guests.push_back(std::move(guest));
    ASSERT_TRUE(advance(member, stream));
  }
  ASSERT_EQ(guests.size(), 1U);
  EXPECT_TRUE(guests.front().stream.is_encrypted());
  EXPECT_FALSE(reception_.next_deadline());
}

// It has begun as one who encrypts does, and goes on a byte at a time.
TEST_F(EncryptedReceptionTest, HangsUpOnTheSlowAfterTwoSeconds) {
  const os::Fd slow = connect();
  const Bytes begin = from_hex("160301020001");
  for (std::size_t i = 0; i < begin.size(); ++i) {
    os::send_some(slow.get(), std::span(begin).subspan(i, 1), {});
    reception_.receive(now_ + kPatience * i / begin.size());
  }
  reception_.receive(now_ + kPatience);
  EXPECT_FALSE(was_hung_up(slow));
  reception_.receive(now_ + kPatience + milliseconds(1));
  EXPECT_TRUE(was_hung_up(slow));
}

TEST_F(EncryptedReceptionTest, KnowsWhoDoesNotEncrypt) {
  Stream stream = connect();
  Handshake member = Handshake::call(some_key(), {});
  for (const auto end = soon();
       member.state() != Handshake::State::kRefused && base::Clock::now() < end;) {
    EXPECT_TRUE(reception_.receive(now_).empty());
    ASSERT_TRUE(advance(member, stream));
  }
  EXPECT_TRUE(reception_.last_complaint().starts_with("it does not encrypt, and this side does"));
  EXPECT_TRUE(member.why().starts_with("it encrypts, and this side does not"));
}

// What a caller is told who holds another key.
Verdict verdict_for_another_key(Reception& reception, Stream stream, bool encrypts) {
  Handshake member = Handshake::call(Credentials(random_key(), encrypts), {});
  const base::TimePoint now{std::chrono::hours(1)};
  for (const auto end = base::Clock::now() + std::chrono::seconds(20);
       member.verdict() == Verdict::kNone && base::Clock::now() < end;) {
    EXPECT_TRUE(reception.receive(now).empty());
    if (!advance(member, stream)) break;
  }
  return member.verdict();
}

TEST_F(ReceptionTest, TellsWhoHoldsAnotherKey) {
  EXPECT_EQ(verdict_for_another_key(reception_, connect(), false), Verdict::kOtherKey);
}

TEST_F(EncryptedReceptionTest, TellsWhoHoldsAnotherKey) {
  EXPECT_EQ(verdict_for_another_key(reception_, connect(), true), Verdict::kOtherKey);
}

TEST_F(ReceptionTest, HangsUpOnTheSilentAfterTwoSeconds) {
  const os::Fd silent = connect();
  reception_.receive(now_);
  EXPECT_EQ(reception_.next_deadline(), now_ + kPatience);
  reception_.receive(now_ + kPatience);
  EXPECT_FALSE(was_hung_up(silent));
  reception_.receive(now_ + kPatience + milliseconds(1));
  EXPECT_TRUE(was_hung_up(silent));
}

// Of 256 descriptors a quarter.
TEST_F(ReceptionTest, KeepsNoMoreStrangersThanAShareOfTheDescriptors) {
  reception_ = testing::with_descriptor_limit(256, [&] {
    return Reception({.key = some_key(), .listener = listener_.socket.get()},
                     [](const Identity&) { return Judgement(); });
  });
  std::vector<os::Fd> strangers;
  while (strangers.size() < 100) strangers.push_back(connect());
  for (int turn = 0; turn < 20; ++turn) reception_.receive(now_ + milliseconds(10) * turn);
  EXPECT_EQ(testing::ended_count(strangers, 36), 36U);
}

// The clock stands still, so that a rest would not end.
TEST_F(ReceptionTest, RestsOnlyOnceItHasTakenInAllWhoWait) {
  reception_ = testing::with_descriptor_limit(256, [&] {
    return Reception({.key = some_key(), .listener = listener_.socket.get()},
                     [](const Identity&) { return Judgement(); });
  });
  std::vector<os::Fd> strangers;
  while (strangers.size() < 300) strangers.push_back(connect());
  for (int turn = 0; turn < 400; ++turn) reception_.receive(now_);
  EXPECT_EQ(testing::ended_count(strangers, 236), 236U);
  EXPECT_LE(*reception_.next_deadline(), now_ + milliseconds(10));
}

// Where there are fewer descriptors than members, these come in nonetheless.
TEST_F(ReceptionTest, KeepsAsManyAsAreExpected) {
  reception_ = testing::with_descriptor_limit(256, [&] {
    return Reception({.key = some_key(), .listener = listener_.socket.get(), .expected_count = 90},
                     [](const Identity&) { return Judgement(); });
  });
  std::vector<os::Fd> strangers;
  while (strangers.size() < 100) strangers.push_back(connect());
  for (int turn = 0; turn < 20; ++turn) reception_.receive(now_ + milliseconds(10) * turn);
  EXPECT_EQ(testing::ended_count(strangers, 10), 10U);
}

}  // namespace
}  // namespace rota::auth

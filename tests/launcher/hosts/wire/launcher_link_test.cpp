// Two launchers receive each other's messages whole and in order. Each launcher knows that the
// other is alive, or sees that the connection has ended. Method: a real connection on loopback, and
// a clock that the test sets.
#include "launcher/hosts/wire/launcher_link.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "os/listener.h"
#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

using std::chrono::milliseconds;
using Verdict = LivenessWatch::Verdict;

constexpr auto kPatience = std::chrono::seconds(10);

void wait_for(int fd, bool for_writing = false) {
  os::PollSet polls;
  polls.add(fd, !for_writing, for_writing);
  polls.wait(base::Clock::now() + kPatience);
}

struct Connection {
  os::Fd caller;
  os::Fd called;
};

Connection connect() {
  const os::Listener listener = os::listen_on_loopback();
  os::Fd caller = os::start_connect(os::parse_address(listener.address)).socket;
  wait_for(listener.socket.get());
  return {.caller = std::move(caller),
          .called = os::accept_connection(listener.socket.get()).socket};
}

ControlMessage say(const std::string& text) {
  return {.type = ControlMessageType::kEvent, .text = text};
}

std::vector<std::string> texts_of(const std::vector<ControlMessage>& messages) {
  std::vector<std::string> texts;
  texts.reserve(messages.size());
  for (const ControlMessage& message : messages) texts.push_back(message.text);
  return texts;
}

class LauncherLinkTest : public ::testing::Test {
 protected:
  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }

  std::unique_ptr<rendezvous::RemoteConnection> caller_line(os::Fd socket) const {
    return std::make_unique<rendezvous::RemoteConnection>(std::move(socket), keys_);
  }
  std::unique_ptr<rendezvous::RemoteConnection> called_line(os::Fd socket) const {
    return std::make_unique<rendezvous::RemoteConnection>(
        std::move(socket), auth::SessionKeys{keys_.from_peer, keys_.to_peer});
  }
  std::unique_ptr<LauncherLink> caller_link(os::Fd socket) const {
    return std::make_unique<LauncherLink>(caller_line(std::move(socket)), time(0));
  }
  std::unique_ptr<LauncherLink> called_link(os::Fd socket) const {
    return std::make_unique<LauncherLink>(called_line(std::move(socket)), time(0));
  }

  // Connects `a_` and `b_` to each other.
  void connect_both() {
    Connection connection = connect();
    a_ = caller_link(std::move(connection.caller));
    b_ = called_link(std::move(connection.called));
  }

  // Sends all that `from` has, and returns what `to` receives: `count` messages, or fewer if the
  // launcher link closes.
  static std::vector<ControlMessage> pass(LauncherLink& from, LauncherLink& to, std::size_t count) {
    std::vector<ControlMessage> all;
    const base::TimePoint end = base::Clock::now() + kPatience;
    while (all.size() < count && to.is_open() && base::Clock::now() < end) {
      from.send_all(time(0));
      if (from.is_open()) from.receive(time(0));
      os::PollSet polls;
      to.add_to(polls);
      if (from.is_open() && !from.is_quiet()) polls.add(from.fd(), false, true);
      polls.wait(end);
      for (ControlMessage& message : to.receive(time(0))) all.push_back(std::move(message));
    }
    return all;
  }

  const auth::SessionKeys keys_{auth::random_key(), auth::random_key()};
  std::unique_ptr<LauncherLink> a_;
  std::unique_ptr<LauncherLink> b_;
};

TEST_F(LauncherLinkTest, DeliversMessagesInOrderBothWays) {
  connect_both();
  std::vector<ControlMessage> sent;
  for (std::uint32_t i = 0; i < 100; ++i) {
    sent.push_back(
        {.type = ControlMessageType::kSaid, .rank = i, .value = -1, .text = std::string(i, 'x')});
    a_->send(sent.back());
    b_->send(sent.back());
  }
  EXPECT_FALSE(a_->is_quiet());
  EXPECT_EQ(pass(*a_, *b_, sent.size()), sent);
  EXPECT_EQ(pass(*b_, *a_, sent.size()), sent);
  EXPECT_TRUE(a_->is_quiet());
  EXPECT_TRUE(a_->is_open() && b_->is_open());
}

// With a thousand hosts, the words about the cluster and the addresses of its ranks are longer than
// a frame.
TEST_F(LauncherLinkTest, CarriesMessagesThatAreLongerThanAFrame) {
  connect_both();
  const std::size_t frame_bytes = rendezvous::kMaxFrameBytes;
  const std::size_t other_bytes = encode(say("")).size();
  std::vector<ControlMessage> sent;
  for (const std::size_t bytes : {frame_bytes - 1, frame_bytes, frame_bytes + 1, 2 * frame_bytes,
                                  2 * frame_bytes + 1, std::size_t{2} << 20}) {
    sent.push_back(say(std::string(bytes - other_bytes, static_cast<char>('a' + sent.size()))));
    sent.push_back(say("short"));
  }
  for (const ControlMessage& message : sent) a_->send(message);
  EXPECT_TRUE(pass(*a_, *b_, sent.size()) == sent);
}

TEST_F(LauncherLinkTest, ClosesAtAMessageThatDoesNotEnd) {
  Connection connection = connect();
  rendezvous::RemoteConnection peer(std::move(connection.caller), keys_);
  b_ = called_link(std::move(connection.called));
  const std::vector<std::byte> full(rendezvous::kMaxFrameBytes);
  std::size_t sent_bytes = 0;
  constexpr std::size_t kFarTooMany = std::size_t{64} << 20;
  while (b_->is_open() && sent_bytes < kFarTooMany) {
    if (peer.send(full, {}) == os::Io::kDone) sent_bytes += full.size();
    EXPECT_TRUE(b_->receive(time(0)).empty());
  }
  EXPECT_FALSE(b_->is_open());
}

TEST_F(LauncherLinkTest, KeepsWhatThereIsNoRoomForUntilThereIs) {
  connect_both();
  std::vector<ControlMessage> sent;
  for (int i = 0; i < 300; ++i) {
    sent.push_back(say(std::string(60'000, static_cast<char>('a' + i % 26))));
    a_->send(sent.back());
  }
  a_->send_all(time(0));
  EXPECT_FALSE(a_->is_quiet());
  EXPECT_TRUE(pass(*a_, *b_, sent.size()) == sent);
  EXPECT_TRUE(a_->is_quiet());
}

TEST_F(LauncherLinkTest, LetsOthersBeHeardBesideOneThatNeverStopsTalking) {
  connect_both();
  constexpr std::size_t kCount = 3000;
  for (std::size_t i = 0; i < kCount; ++i) a_->send({.type = ControlMessageType::kEvent});
  a_->send_all(time(0));
  ASSERT_TRUE(a_->is_quiet());
  std::size_t count = 0;
  while (count < kCount) {
    wait_for(b_->fd());
    const std::size_t new_count = b_->receive(time(0)).size();
    ASSERT_GT(new_count, 0U);
    ASSERT_LE(new_count, 1024U);
    count += new_count;
  }
  EXPECT_EQ(count, kCount);
}

// For ten seconds only heartbeats are sent.
TEST_F(LauncherLinkTest, IsKeptAliveByBeats) {
  connect_both();
  for (int ms = 100; ms <= 10'000; ms += 100) {
    for (LauncherLink* link : {a_.get(), b_.get()}) link->send_all(time(ms));
    for (LauncherLink* link : {a_.get(), b_.get()}) {
      EXPECT_EQ(link->next_deadline(), time(ms + 100));
      wait_for(link->fd());
      EXPECT_TRUE(link->receive(time(ms)).empty());
      ASSERT_TRUE(link->is_open());
      ASSERT_EQ(link->judge(time(ms)), Verdict::kFine) << ms;
      EXPECT_EQ(link->silent_for(time(ms)), milliseconds(0));
    }
  }
}

TEST_F(LauncherLinkTest, HearsThatThePeerSaysNothingAnyMore) {
  connect_both();
  Verdict verdict = Verdict::kFine;
  for (int ms = 100; ms <= 5000; ms += 100) {
    ASSERT_NE(verdict, Verdict::kSilent) << ms;
    b_->send_all(time(ms));
    EXPECT_TRUE(b_->receive(time(ms)).empty());
    verdict = b_->judge(time(ms));
    EXPECT_EQ(verdict != Verdict::kFine, ms >= 1000) << ms;
  }
  EXPECT_EQ(verdict, Verdict::kSilent);
  EXPECT_TRUE(b_->is_open());
}

TEST_F(LauncherLinkTest, DeliversWhatWasSentBeforeItWasClosed) {
  connect_both();
  for (const std::string text : {"one", "two", "three"}) a_->send(say(text));
  a_->close(time(0));
  EXPECT_FALSE(a_->is_open());
  EXPECT_EQ(texts_of(pass(*a_, *b_, 4)), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_FALSE(b_->is_open());
}

TEST_F(LauncherLinkTest, HandsOnWhatCameBeforeThePeerWasGone) {
  connect_both();
  a_->send(say("last words"));
  a_->send_all(time(0));
  a_.reset();
  b_->send(say("never heard"));
  b_->send_all(time(0));
  std::vector<ControlMessage> heard;
  while (b_->is_open()) {
    wait_for(b_->fd());
    for (ControlMessage& message : b_->receive(time(0))) heard.push_back(std::move(message));
  }
  EXPECT_EQ(texts_of(heard), std::vector<std::string>{"last words"});
}

TEST_F(LauncherLinkTest, DoesNothingOnceItIsClosed) {
  LauncherLink link(nullptr, time(0));
  link.send(say("word"));
  link.send_all(time(0));
  os::PollSet polls;
  link.add_to(polls);
  EXPECT_TRUE(link.receive(time(0)).empty());
  EXPECT_EQ(link.next_deadline(), std::nullopt);
  link.close(time(0));
  EXPECT_FALSE(link.is_open());
}

// The frame's tag is right, so the peer has the key. But the frame is not a control message.
TEST_F(LauncherLinkTest, ClosesAtAFrameThatIsNoMessage) {
  Connection connection = connect();
  rendezvous::RemoteConnection peer(std::move(connection.caller), keys_);
  b_ = called_link(std::move(connection.called));
  ASSERT_EQ(peer.send(encode(say("good")), {}), os::Io::kDone);
  ASSERT_EQ(peer.send(std::as_bytes(std::span("nonsense")), {}), os::Io::kDone);
  ASSERT_EQ(peer.send(encode(say("too late")), {}), os::Io::kDone);
  std::vector<ControlMessage> heard;
  while (b_->is_open()) {
    wait_for(b_->fd());
    for (ControlMessage& message : b_->receive(time(0))) heard.push_back(std::move(message));
  }
  EXPECT_EQ(texts_of(heard), std::vector<std::string>{"good"});
}

// Between the launchers one bit of the second control message changes: in its length, type, text or
// tag.
class ChangedByte : public LauncherLinkTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(ChangedByte, ClosesTheLink) {
  Connection near = connect();
  Connection far = connect();
  a_ = caller_link(std::move(near.caller));
  b_ = called_link(std::move(far.called));
  const std::size_t frame_bytes = 4 + encode(say("word")).size() + 16;
  for (int i = 0; i < 4; ++i) a_->send(say("word"));
  a_->send_all(time(0));

  std::vector<std::byte> stream(4 * frame_bytes);
  for (std::size_t count = 0; count < stream.size();) {
    wait_for(near.called.get());
    const os::Moved moved = os::receive_some(near.called.get(), std::span(stream).subspan(count));
    ASSERT_GT(moved.bytes, 0U);
    count += moved.bytes;
  }
  stream[frame_bytes + GetParam()] ^= std::byte{1};
  ASSERT_EQ(os::send_some(far.caller.get(), stream, {}).bytes, stream.size());

  std::vector<ControlMessage> heard;
  while (b_->is_open()) {
    wait_for(b_->fd());
    for (ControlMessage& message : b_->receive(time(0))) heard.push_back(std::move(message));
  }
  EXPECT_EQ(texts_of(heard), std::vector<std::string>{"word"});
}

INSTANTIATE_TEST_SUITE_P(LauncherLinkTest, ChangedByte, ::testing::Values(0, 3, 4, 5, 18, 21, 36));

}  // namespace
}  // namespace rota::launcher

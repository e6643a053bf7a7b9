// Two launchers hear each other whole and in order, know that the other one is there, or see that
// the connection has ended.
// Method: a real connection on loopback, and a clock that the test counts.
#include "launcher/hosts/wire/trunk.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "os/listener.h"
#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

using std::chrono::milliseconds;
using Verdict = SilenceWatch::Verdict;

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

Dispatch say(const std::string& text) { return {.type = DispatchType::kNews, .text = text}; }

std::vector<std::string> texts_of(const std::vector<Dispatch>& dispatches) {
  std::vector<std::string> texts;
  texts.reserve(dispatches.size());
  for (const Dispatch& dispatch : dispatches) texts.push_back(dispatch.text);
  return texts;
}

class TrunkTest : public ::testing::Test {
 protected:
  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }

  std::unique_ptr<rendezvous::RemoteLine> caller_line(os::Fd socket) const {
    return std::make_unique<rendezvous::RemoteLine>(std::move(socket), keys_);
  }
  std::unique_ptr<rendezvous::RemoteLine> called_line(os::Fd socket) const {
    return std::make_unique<rendezvous::RemoteLine>(
        std::move(socket), auth::SessionKeys{keys_.from_peer, keys_.to_peer});
  }
  std::unique_ptr<Trunk> caller_trunk(os::Fd socket) const {
    return std::make_unique<Trunk>(caller_line(std::move(socket)), time(0));
  }
  std::unique_ptr<Trunk> called_trunk(os::Fd socket) const {
    return std::make_unique<Trunk>(called_line(std::move(socket)), time(0));
  }

  // Two that are connected to each other.
  void connect_both() {
    Connection connection = connect();
    a_ = caller_trunk(std::move(connection.caller));
    b_ = called_trunk(std::move(connection.called));
  }

  // What comes while `from` sends all that it has, until there are `count` or the trunk is closed.
  static std::vector<Dispatch> pass(Trunk& from, Trunk& to, std::size_t count) {
    std::vector<Dispatch> all;
    const base::TimePoint end = base::Clock::now() + kPatience;
    while (all.size() < count && to.is_open() && base::Clock::now() < end) {
      from.send_all(time(0));
      if (from.is_open()) from.receive(time(0));
      os::PollSet polls;
      to.add_to(polls);
      if (from.is_open() && !from.is_quiet()) polls.add(from.fd(), false, true);
      polls.wait(end);
      for (Dispatch& dispatch : to.receive(time(0))) all.push_back(std::move(dispatch));
    }
    return all;
  }

  const auth::SessionKeys keys_{auth::random_key(), auth::random_key()};
  std::unique_ptr<Trunk> a_;
  std::unique_ptr<Trunk> b_;
};

TEST_F(TrunkTest, DeliversDispatchesInOrderBothWays) {
  connect_both();
  std::vector<Dispatch> sent;
  for (std::uint32_t i = 0; i < 100; ++i) {
    sent.push_back(
        {.type = DispatchType::kSaid, .rank = i, .value = -1, .text = std::string(i, 'x')});
    a_->send(sent.back());
    b_->send(sent.back());
  }
  EXPECT_FALSE(a_->is_quiet());
  EXPECT_EQ(pass(*a_, *b_, sent.size()), sent);
  EXPECT_EQ(pass(*b_, *a_, sent.size()), sent);
  EXPECT_TRUE(a_->is_quiet());
  EXPECT_TRUE(a_->is_open() && b_->is_open());
}

// As the words about a cluster of a thousand hosts are, or the addresses of its ranks.
TEST_F(TrunkTest, CarriesDispatchesThatAreLongerThanAFrame) {
  connect_both();
  const std::size_t frame_bytes = rendezvous::kMaxFrameBytes;
  const std::size_t other_bytes = encode(say("")).size();
  std::vector<Dispatch> sent;
  for (const std::size_t bytes : {frame_bytes - 1, frame_bytes, frame_bytes + 1, 2 * frame_bytes,
                                  2 * frame_bytes + 1, std::size_t{2} << 20}) {
    sent.push_back(say(std::string(bytes - other_bytes, static_cast<char>('a' + sent.size()))));
    sent.push_back(say("short"));
  }
  for (const Dispatch& dispatch : sent) a_->send(dispatch);
  EXPECT_TRUE(pass(*a_, *b_, sent.size()) == sent);
}

TEST_F(TrunkTest, ClosesAtADispatchThatDoesNotEnd) {
  Connection connection = connect();
  rendezvous::RemoteLine peer(std::move(connection.caller), keys_);
  b_ = called_trunk(std::move(connection.called));
  const std::vector<std::byte> full(rendezvous::kMaxFrameBytes);
  std::size_t sent_bytes = 0;
  constexpr std::size_t kFarTooMany = std::size_t{64} << 20;
  while (b_->is_open() && sent_bytes < kFarTooMany) {
    if (peer.send(full, {}) == os::Io::kDone) sent_bytes += full.size();
    EXPECT_TRUE(b_->receive(time(0)).empty());
  }
  EXPECT_FALSE(b_->is_open());
}

TEST_F(TrunkTest, KeepsWhatThereIsNoRoomForUntilThereIs) {
  connect_both();
  std::vector<Dispatch> sent;
  for (int i = 0; i < 300; ++i) {
    sent.push_back(say(std::string(60'000, static_cast<char>('a' + i % 26))));
    a_->send(sent.back());
  }
  a_->send_all(time(0));
  EXPECT_FALSE(a_->is_quiet());
  EXPECT_TRUE(pass(*a_, *b_, sent.size()) == sent);
  EXPECT_TRUE(a_->is_quiet());
}

TEST_F(TrunkTest, LetsOthersBeHeardBesideOneThatNeverStopsTalking) {
  connect_both();
  constexpr std::size_t kCount = 3000;
  for (std::size_t i = 0; i < kCount; ++i) a_->send({.type = DispatchType::kNews});
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

// Nothing is said for ten seconds but signs of life.
TEST_F(TrunkTest, IsKeptAliveByBeats) {
  connect_both();
  for (int ms = 100; ms <= 10'000; ms += 100) {
    for (Trunk* trunk : {a_.get(), b_.get()}) trunk->send_all(time(ms));
    for (Trunk* trunk : {a_.get(), b_.get()}) {
      EXPECT_EQ(trunk->next_deadline(), time(ms + 100));
      wait_for(trunk->fd());
      EXPECT_TRUE(trunk->receive(time(ms)).empty());
      ASSERT_TRUE(trunk->is_open());
      ASSERT_EQ(trunk->judge(time(ms)), Verdict::kFine) << ms;
      EXPECT_EQ(trunk->silent_for(time(ms)), milliseconds(0));
    }
  }
}

TEST_F(TrunkTest, HearsThatThePeerSaysNothingAnyMore) {
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

TEST_F(TrunkTest, DeliversWhatWasSentBeforeItWasClosed) {
  connect_both();
  for (const std::string text : {"one", "two", "three"}) a_->send(say(text));
  a_->close(time(0));
  EXPECT_FALSE(a_->is_open());
  EXPECT_EQ(texts_of(pass(*a_, *b_, 4)), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_FALSE(b_->is_open());
}

TEST_F(TrunkTest, HandsOnWhatCameBeforeThePeerWasGone) {
  connect_both();
  a_->send(say("last words"));
  a_->send_all(time(0));
  a_.reset();
  b_->send(say("never heard"));
  b_->send_all(time(0));
  std::vector<Dispatch> heard;
  while (b_->is_open()) {
    wait_for(b_->fd());
    for (Dispatch& dispatch : b_->receive(time(0))) heard.push_back(std::move(dispatch));
  }
  EXPECT_EQ(texts_of(heard), std::vector<std::string>{"last words"});
}

TEST_F(TrunkTest, DoesNothingOnceItIsClosed) {
  Trunk trunk(nullptr, time(0));
  trunk.send(say("word"));
  trunk.send_all(time(0));
  os::PollSet polls;
  trunk.add_to(polls);
  EXPECT_TRUE(trunk.receive(time(0)).empty());
  EXPECT_EQ(trunk.next_deadline(), std::nullopt);
  trunk.close(time(0));
  EXPECT_FALSE(trunk.is_open());
}

// Its seal is right, so that the peer has the key; but it speaks another language.
TEST_F(TrunkTest, ClosesAtAFrameThatIsNoDispatch) {
  Connection connection = connect();
  rendezvous::RemoteLine peer(std::move(connection.caller), keys_);
  b_ = called_trunk(std::move(connection.called));
  ASSERT_EQ(peer.send(encode(say("good")), {}), os::Io::kDone);
  ASSERT_EQ(peer.send(std::as_bytes(std::span("nonsense")), {}), os::Io::kDone);
  ASSERT_EQ(peer.send(encode(say("too late")), {}), os::Io::kDone);
  std::vector<Dispatch> heard;
  while (b_->is_open()) {
    wait_for(b_->fd());
    for (Dispatch& dispatch : b_->receive(time(0))) heard.push_back(std::move(dispatch));
  }
  EXPECT_EQ(texts_of(heard), std::vector<std::string>{"good"});
}

// Somebody between the two changes a bit of the second dispatch: of its length, type, text or tag.
class ChangedByte : public TrunkTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(ChangedByte, ClosesTheTrunk) {
  Connection near = connect();
  Connection far = connect();
  a_ = caller_trunk(std::move(near.caller));
  b_ = called_trunk(std::move(far.called));
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

  std::vector<Dispatch> heard;
  while (b_->is_open()) {
    wait_for(b_->fd());
    for (Dispatch& dispatch : b_->receive(time(0))) heard.push_back(std::move(dispatch));
  }
  EXPECT_EQ(texts_of(heard), std::vector<std::string>{"word"});
}

INSTANTIATE_TEST_SUITE_P(TrunkTest, ChangedByte, ::testing::Values(0, 3, 4, 5, 18, 21, 36));

}  // namespace
}  // namespace rota::launcher

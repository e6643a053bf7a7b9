// Between the ranks' lines and the coordinator: nothing is lost, whatever a line has room for.
// Method: lines that do as they are told, and keep what they were given; or message sockets, with
// a client at the other end.
#include "rendezvous/switchboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <utility>

#include "os/message_socket.h"
#include "rendezvous/client.h"
#include "rendezvous/coordinator_world.h"

namespace rota::rendezvous {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

// What a line is to do, and what it has done. The test's, so that it outlives the line.
struct Script {
  std::deque<Message> heard;  // To be received.
  bool ends = false;          // Once all is received.
  os::Io when_sending = os::Io::kDone;
  std::vector<std::pair<Message, std::size_t>> sent;  // With how many descriptors.
  int attempt_count = 0;
};

class ScriptedLine final : public Line {
 public:
  explicit ScriptedLine(Script& script) : script_(script) { wakeup_.wake(); }

  int fd() const noexcept override { return wakeup_.fd(); }  // Ready for both, always.
  os::Io send(std::span<const std::byte> bytes, std::span<const int> fds) override {
    ++script_.attempt_count;
    if (script_.when_sending == os::Io::kDone)
      script_.sent.emplace_back(*decode(bytes), fds.size());
    return script_.when_sending;
  }
  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) override {
    fds.clear();
    if (script_.heard.empty()) return script_.ends ? os::Io::kClosed : os::Io::kWouldBlock;
    bytes = encode(script_.heard.front());
    script_.heard.pop_front();
    return os::Io::kDone;
  }
  bool is_sending() const noexcept override { return false; }

 private:
  Script& script_;
  os::Wakeup wakeup_;
};

class SwitchboardTest : public ::testing::Test {
 protected:
  void start(std::size_t world_size) {
    switchboard_ = std::make_unique<Switchboard>(
        job_of(world_size),
        Switchboard::Hooks{
            .heard = [this](std::size_t rank, const Message&) { heard_.push_back(rank); },
            .lend = [this](std::size_t) { return lent_fds(); },
            .lent = [this](std::size_t rank) { lent_.push_back(rank); }});
  }

  void connect(std::size_t rank, Script& script) {
    switchboard_->connect(rank, std::make_unique<ScriptedLine>(script));
  }

  std::vector<int> lent_fds() const {
    std::vector<int> fds(lent_count_, STDIN_FILENO);
    if (table_) fds.insert(fds.begin(), table_.get());
    return fds;
  }

  // One turn, as its owners make them.
  void turn() {
    polls_.clear();
    switchboard_->add_to(polls_, now_);
    polls_.wait(base::Clock::now());
    switchboard_->handle(polls_, now_);
    switchboard_->on_time(now_);
    switchboard_->send_all(now_);
  }

  std::unique_ptr<Switchboard> switchboard_;
  std::size_t lent_count_ = 0;  // Beside the table.
  os::Fd table_;
  std::vector<std::size_t> heard_;  // Ranks, in order.
  std::vector<std::size_t> lent_;
  os::PollSet polls_;
  base::TimePoint now_{};
};

TEST_F(SwitchboardTest, HandsOnWhatIsSaidAndAnswers) {
  start(2);
  Script first{.heard = {{.type = MessageType::kJoin},
                         {.type = MessageType::kPut, .key = "k", .text = "v"}}};
  Script second{
      .heard = {
          {.type = MessageType::kGet, .id = 5, .timeout = std::chrono::seconds(1), .key = "k"}}};
  connect(0, first);
  connect(1, second);
  turn();
  EXPECT_THAT(heard_, ElementsAre(0, 0, 1));
  ASSERT_EQ(first.sent.size(), 1U);
  EXPECT_EQ(first.sent[0].first.type, MessageType::kWelcome);
  ASSERT_EQ(second.sent.size(), 1U);
  EXPECT_EQ(second.sent[0].first, (Message{.type = MessageType::kReply, .id = 5, .text = "v"}));
}

// More than a message holds go in several, of which the first says what they are.
TEST_F(SwitchboardTest, LendsDescriptorsInAsManyMessagesAsItTakes) {
  start(2);
  lent_count_ = 2 * os::kMaxMessageFds + 1;
  Script script{.heard = {{.type = MessageType::kJoin}}};
  connect(1, script);
  turn();
  ASSERT_EQ(script.sent.size(), 3U);
  const auto terms = decode_job(script.sent[0].first.text);
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->job.rank, 1U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(script.sent[i].first.type, MessageType::kWelcome);
    EXPECT_EQ(script.sent[i].first.text.empty(), i > 0);
    EXPECT_EQ(script.sent[i].second, i < 2 ? os::kMaxMessageFds : 1);
  }
  EXPECT_THAT(lent_, ElementsAre(1));
}

// To a client, which puts them together again.
TEST_F(SwitchboardTest, LendsEveryDescriptorThatAClientWaitsFor) {
  constexpr std::size_t kWorldSize = os::kMaxMessageFds + 7;
  start(kWorldSize);
  table_ = make_table_file(switchboard_->table_text());
  lent_count_ = kWorldSize;
  auto [ours, theirs] = os::make_message_socket_pair();
  switchboard_->connect(3, std::make_unique<LocalLine>(std::move(ours)));
  os::send_message(theirs.get(), encode({.type = MessageType::kJoin}));
  turn();
  Client client(std::move(theirs));
  const auto welcome = client.join(base::Clock::now() + std::chrono::seconds(10));
  EXPECT_EQ(welcome.job.rank, 3U);
  EXPECT_EQ(welcome.fds.size(), kWorldSize);
}

// They are lent when the last of them has gone.
TEST_F(SwitchboardTest, TriesAgainLaterWhereALineHasNoRoom) {
  start(1);
  lent_count_ = os::kMaxMessageFds + 1;
  Script script{.heard = {{.type = MessageType::kJoin}}, .when_sending = os::Io::kWouldBlock};
  connect(0, script);
  turn();
  EXPECT_EQ(script.attempt_count, 1);
  EXPECT_EQ(switchboard_->next_deadline(now_), now_ + milliseconds(5));
  turn();
  now_ += milliseconds(4);
  turn();
  EXPECT_EQ(script.attempt_count, 1) << "the line was writable, but it had just refused";
  now_ += milliseconds(1);
  turn();
  EXPECT_EQ(script.attempt_count, 2);
  EXPECT_TRUE(lent_.empty());
  script.when_sending = os::Io::kDone;
  now_ += milliseconds(5);
  turn();
  EXPECT_EQ(script.attempt_count, 4);
  EXPECT_EQ(script.sent.size(), 2U);
  EXPECT_THAT(lent_, ElementsAre(0));
  EXPECT_EQ(switchboard_->next_deadline(now_), std::nullopt);
}

// A full line is the concern of its own rank.
TEST_F(SwitchboardTest, DoesNotLetOthersWaitForALineWithoutRoom) {
  start(2);
  Script full{.heard = {{.type = MessageType::kJoin}}, .when_sending = os::Io::kWouldBlock};
  Script other{.heard = {{.type = MessageType::kJoin}}};
  connect(0, full);
  connect(1, other);
  turn();
  EXPECT_EQ(other.sent.size(), 1U);
}

TEST_F(SwitchboardTest, HandsOnAllThatCameOverALineThatEnds) {
  start(2);
  Script script{
      .heard = {{.type = MessageType::kJoin}, {.type = MessageType::kPut, .key = "k", .text = "v"}},
      .ends = true};
  connect(1, script);
  EXPECT_TRUE(switchboard_->is_connected(1));
  turn();
  EXPECT_FALSE(switchboard_->is_connected(1));
  EXPECT_THAT(heard_, ElementsAre(1, 1));
  turn();
  EXPECT_EQ(script.attempt_count, 0) << "nobody is there to be welcomed";
}

// As seen when something is sent: what it said before has yet to be heard.
TEST_F(SwitchboardTest, HearsALineThatIsClosedForSendingToItsEnd) {
  start(2);
  Script script{.heard = {{.type = MessageType::kJoin}}, .when_sending = os::Io::kClosed};
  connect(1, script);
  turn();
  EXPECT_TRUE(switchboard_->is_connected(1));
  script.heard.push_back({.type = MessageType::kLeave});
  script.ends = true;
  turn();
  EXPECT_THAT(heard_, ElementsAre(1, 1));
  EXPECT_FALSE(switchboard_->is_connected(1));
}

// A rank that never stops talking does not keep the others from being heard.
TEST_F(SwitchboardTest, HearsAFewHundredMessagesATurnAndAllOnRequest) {
  start(2);
  Script script;
  script.heard.assign(1000, {.type = MessageType::kResumed});
  Script other{.heard = {{.type = MessageType::kResumed}}};
  connect(0, script);
  connect(1, other);
  turn();
  EXPECT_EQ(heard_.size(), 257U);
  EXPECT_EQ(heard_.back(), 1U);
  switchboard_->read_all(0, now_);
  EXPECT_EQ(heard_.size(), 1001U);
}

// More than a message socket carries, which no rank of ours sends.
TEST_F(SwitchboardTest, TakesWhatIsTooLargeForAFailureOfItsRank) {
  start(2);
  Script other{.heard = {{.type = MessageType::kJoin}}};
  connect(1, other);
  turn();
  auto [ours, theirs] = os::make_message_socket_pair();
  switchboard_->connect(0, std::make_unique<LocalLine>(std::move(ours)));
  const std::vector<std::byte> huge(os::kMaxMessageBytes + 1);
  ASSERT_EQ(::send(theirs.get(), huge.data(), huge.size(), 0), static_cast<ssize_t>(huge.size()));
  turn();
  ASSERT_EQ(other.sent.size(), 2U);
  EXPECT_EQ(other.sent[1].first.type, MessageType::kAborted);
  EXPECT_EQ(other.sent[1].first.error, ErrorCode::kBadData);
  EXPECT_EQ(other.sent[1].first.blamed, 0U);
}

}  // namespace
}  // namespace rota::rendezvous

// The message router between the ranks' connections and the coordinator loses no message, however
// little room a connection has. Method: scripted connections that record what they send; or message
// sockets with a client at the other end.
#include "rendezvous/message_router.h"

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

// What a connection has to do, and what it has done. The test owns the script, so the script
// outlives the connection.
struct Script {
  std::deque<Message> heard;  // Still to be received.
  bool ends = false;          // After the last message.
  os::Io when_sending = os::Io::kDone;
  std::vector<std::pair<Message, std::size_t>> sent;  // With the number of descriptors.
  int attempt_count = 0;
};

class ScriptedLine final : public Connection {
 public:
  explicit ScriptedLine(Script& script) : script_(script) { wakeup_.wake(); }

  int fd() const noexcept override { return wakeup_.fd(); }  // Always readable and writable.
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

class MessageRouterTest : public ::testing::Test {
 protected:
  void start(std::size_t world_size) {
    router_ = std::make_unique<MessageRouter>(
        job_of(world_size),
        MessageRouter::Hooks{
            .heard = [this](std::size_t rank, const Message&) { heard_.push_back(rank); },
            .descriptors_of = [this](std::size_t) { return own_descriptors(); },
            .descriptors_sent = [this](std::size_t rank) { sent_to_.push_back(rank); }});
  }

  void connect(std::size_t rank, Script& script) {
    router_->connect(rank, std::make_unique<ScriptedLine>(script));
  }

  std::vector<int> own_descriptors() const {
    std::vector<int> fds(descriptor_count_, STDIN_FILENO);
    if (table_) fds.insert(fds.begin(), table_.get());
    return fds;
  }

  // Makes one turn of the event loop, as the owner of a router does.
  void turn() {
    polls_.clear();
    router_->add_to(polls_, now_);
    polls_.wait(base::Clock::now());
    router_->handle(polls_, now_);
    router_->on_time(now_);
    router_->send_all(now_);
  }

  std::unique_ptr<MessageRouter> router_;
  std::size_t descriptor_count_ = 0;  // Descriptors for each rank, without the table.
  os::Fd table_;
  std::vector<std::size_t> heard_;  // The ranks of the messages, in order.
  std::vector<std::size_t> sent_to_;
  os::PollSet polls_;
  base::TimePoint now_{};
};

TEST_F(MessageRouterTest, HandsOnWhatIsSaidAndAnswers) {
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

// If there are too many descriptors for one message, several messages carry them. The first message
// describes all of them.
TEST_F(MessageRouterTest, SendsDescriptorsInAsManyMessagesAsItTakes) {
  start(2);
  descriptor_count_ = 2 * os::kMaxMessageFds + 1;
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
  EXPECT_THAT(sent_to_, ElementsAre(1));
}

// Sends to a real client, which collects the descriptors again.
TEST_F(MessageRouterTest, SendsEveryDescriptorThatAClientWaitsFor) {
  constexpr std::size_t kWorldSize = os::kMaxMessageFds + 7;
  start(kWorldSize);
  table_ = make_table_file(router_->table_text());
  descriptor_count_ = kWorldSize;
  auto [ours, theirs] = os::make_message_socket_pair();
  router_->connect(3, std::make_unique<LocalConnection>(std::move(ours)));
  os::send_message(theirs.get(), encode({.type = MessageType::kJoin}));
  turn();
  Client client(std::move(theirs));
  const auto welcome = client.join(base::Clock::now() + std::chrono::seconds(10));
  EXPECT_EQ(welcome.job.rank, 3U);
  EXPECT_EQ(welcome.fds.size(), kWorldSize);
}

// The descriptors count as sent when the last of them has been sent.
TEST_F(MessageRouterTest, TriesAgainLaterWhereALineHasNoRoom) {
  start(1);
  descriptor_count_ = os::kMaxMessageFds + 1;
  Script script{.heard = {{.type = MessageType::kJoin}}, .when_sending = os::Io::kWouldBlock};
  connect(0, script);
  turn();
  EXPECT_EQ(script.attempt_count, 1);
  EXPECT_EQ(router_->next_deadline(now_), now_ + milliseconds(5));
  turn();
  now_ += milliseconds(4);
  turn();
  EXPECT_EQ(script.attempt_count, 1) << "the connection was writable, but it had just refused";
  now_ += milliseconds(1);
  turn();
  EXPECT_EQ(script.attempt_count, 2);
  EXPECT_TRUE(sent_to_.empty());
  script.when_sending = os::Io::kDone;
  now_ += milliseconds(5);
  turn();
  EXPECT_EQ(script.attempt_count, 4);
  EXPECT_EQ(script.sent.size(), 2U);
  EXPECT_THAT(sent_to_, ElementsAre(0));
  EXPECT_EQ(router_->next_deadline(now_), std::nullopt);
}

// A full connection delays only its own rank.
TEST_F(MessageRouterTest, DoesNotLetOthersWaitForALineWithoutRoom) {
  start(2);
  Script full{.heard = {{.type = MessageType::kJoin}}, .when_sending = os::Io::kWouldBlock};
  Script other{.heard = {{.type = MessageType::kJoin}}};
  connect(0, full);
  connect(1, other);
  turn();
  EXPECT_EQ(other.sent.size(), 1U);
}

TEST_F(MessageRouterTest, HandsOnAllThatCameOverALineThatEnds) {
  start(2);
  Script script{
      .heard = {{.type = MessageType::kJoin}, {.type = MessageType::kPut, .key = "k", .text = "v"}},
      .ends = true};
  connect(1, script);
  EXPECT_TRUE(router_->is_connected(1));
  turn();
  EXPECT_FALSE(router_->is_connected(1));
  EXPECT_THAT(heard_, ElementsAre(1, 1));
  turn();
  EXPECT_EQ(script.attempt_count, 0) << "nobody is there to be welcomed";
}

// A send shows that the connection is closed, but messages received before the end are still read.
TEST_F(MessageRouterTest, HearsALineThatIsClosedForSendingToItsEnd) {
  start(2);
  Script script{.heard = {{.type = MessageType::kJoin}}, .when_sending = os::Io::kClosed};
  connect(1, script);
  turn();
  EXPECT_TRUE(router_->is_connected(1));
  script.heard.push_back({.type = MessageType::kLeave});
  script.ends = true;
  turn();
  EXPECT_THAT(heard_, ElementsAre(1, 1));
  EXPECT_FALSE(router_->is_connected(1));
}

// A rank that never stops sending does not keep the router from receiving messages of other ranks.
TEST_F(MessageRouterTest, HearsAFewHundredMessagesATurnAndAllOnRequest) {
  start(2);
  Script script;
  script.heard.assign(1000, {.type = MessageType::kResumed});
  Script other{.heard = {{.type = MessageType::kResumed}}};
  connect(0, script);
  connect(1, other);
  turn();
  EXPECT_EQ(heard_.size(), 257U);
  EXPECT_EQ(heard_.back(), 1U);
  router_->read_all(0, now_);
  EXPECT_EQ(heard_.size(), 1001U);
}

// No rank of rota sends a message of this size, which is above the limit os::kMaxMessageBytes.
TEST_F(MessageRouterTest, TakesWhatIsTooLargeForAFailureOfItsRank) {
  start(2);
  Script other{.heard = {{.type = MessageType::kJoin}}};
  connect(1, other);
  turn();
  auto [ours, theirs] = os::make_message_socket_pair();
  router_->connect(0, std::make_unique<LocalConnection>(std::move(ours)));
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

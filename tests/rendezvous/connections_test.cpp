// Every message between the coordinator and a rank arrives, however little room the connections
// have. Method: real message sockets; the test plays the ranks at the other ends.
#include "rendezvous/connections.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <string>

namespace rota::rendezvous {
namespace {

using std::chrono::milliseconds;

Message reply(const std::string& text) { return {.type = MessageType::kReply, .text = text}; }

class LinesTest : public ::testing::Test {
 protected:
  LinesTest() {
    for (std::size_t index = 0; index < 2; ++index) connect(index);
  }

  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }

  void connect(std::size_t index) {
    auto [ours, theirs] = os::make_message_socket_pair();
    connections_.connect(index, std::make_unique<LocalConnection>(std::move(ours)));
    peers_[index] = std::move(theirs);
  }

  void turn(int ms = 0) {
    connections_.send_all(time(ms));
    os::PollSet polls;
    connections_.add_to(polls, time(ms));
    polls.wait(base::Clock::now());
    connections_.handle(polls, time(ms));
  }

  void rank_says(std::size_t index, const std::string& text) {
    ASSERT_EQ(os::send_message(peers_[index].get(), encode(reply(text))), os::Io::kDone);
  }

  // Returns the rank's next message; empty if there is none.
  std::optional<std::string> rank_hears(std::size_t index) {
    std::vector<std::byte> bytes;
    if (os::receive_message(peers_[index].get(), bytes, fds_) != os::Io::kDone) return {};
    const auto message = decode(bytes);
    return message ? std::optional(message->text) : "no message";
  }

  void on_heard(std::size_t index, std::span<const std::byte> bytes) {
    const auto message = decode(bytes);
    heard_.push_back(std::to_string(index) + ": " + (message ? message->text : "no message"));
    if (then_) then_(index);
  }

  os::Fd peers_[2];
  std::vector<os::Fd> fds_;
  std::vector<std::string> heard_;
  std::vector<std::size_t> handed_over_;
  std::function<void(std::size_t index)> then_;
  Connections connections_{
      2, [this](std::size_t index, std::span<const std::byte> bytes) { on_heard(index, bytes); },
      [this](std::size_t index) { handed_over_.push_back(index); }};
};

using Texts = std::vector<std::string>;

TEST_F(LinesTest, DeliverWhatIsPostedInOrder) {
  connections_.post(0, reply("one"), {});
  connections_.post(1, reply("other"), {});
  connections_.post(0, reply("two"), {});
  EXPECT_EQ(rank_hears(0), std::nullopt);
  connections_.send_all(time(0));
  EXPECT_EQ(rank_hears(0), "one");
  EXPECT_EQ(rank_hears(0), "two");
  EXPECT_EQ(rank_hears(0), std::nullopt);
  EXPECT_EQ(rank_hears(1), "other");
  EXPECT_TRUE(handed_over_.empty());
}

// Behaves like an encrypted connection: its bytes have left the socket, so poll() no longer reports
// them.
class LineWithoutASign final : public Connection {
 public:
  int fd() const noexcept override { return -1; }
  os::Io send(std::span<const std::byte> /*bytes*/, std::span<const int> /*fds*/) override {
    return os::Io::kDone;
  }
  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& /*fds*/) override {
    if (unread_ == 0) return os::Io::kWouldBlock;
    bytes = encode(reply(std::to_string(--unread_)));
    return os::Io::kDone;
  }
  bool is_sending() const noexcept override { return false; }
  bool has_unread() const noexcept override { return unread_ > 0; }

 private:
  std::size_t unread_ = 1000;  // More messages than one turn reads.
};

TEST_F(LinesTest, HearOfWhatTheSystemDoesNotTell) {
  connections_.connect(0, std::make_unique<LineWithoutASign>());
  const auto start = base::Clock::now();
  for (int i = 0; i < 1000 && heard_.size() < 1000; ++i) {
    os::PollSet polls;
    connections_.add_to(polls, time(0));
    polls.wait(start + std::chrono::seconds(100));
    connections_.handle(polls, time(0));
  }
  EXPECT_LT(base::Clock::now() - start, std::chrono::seconds(50));
  ASSERT_EQ(heard_.size(), 1000U);
  EXPECT_EQ(heard_.back(), "0: 0");
}

TEST_F(LinesTest, HearWhatRanksSayAndWhoSaysIt) {
  rank_says(1, "one");
  rank_says(0, "other");
  rank_says(1, "two");
  turn();
  EXPECT_EQ(heard_, (Texts{"0: other", "1: one", "1: two"}));
}

TEST_F(LinesTest, SendMoreDescriptorsThanAMessageTakesInCopiesWithoutText) {
  const os::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> fds(2 * os::kMaxMessageFds + 1, null.get());
  connections_.post(1, reply("take these"), fds);
  connections_.send_all(time(0));
  EXPECT_EQ(rank_hears(1), "take these");
  EXPECT_EQ(fds_.size(), os::kMaxMessageFds);
  EXPECT_EQ(rank_hears(1), "");
  EXPECT_EQ(fds_.size(), os::kMaxMessageFds);
  EXPECT_EQ(rank_hears(1), "");
  EXPECT_EQ(fds_.size(), 1U);
  EXPECT_EQ(rank_hears(1), std::nullopt);
  EXPECT_EQ(handed_over_, std::vector<std::size_t>{1});
}

// Counts the descriptors that are sent, and takes every message.
class LineThatTakesAll final : public Connection {
 public:
  explicit LineThatTakesAll(std::size_t& fd_count) : fd_count_(fd_count) {}

  int fd() const noexcept override { return -1; }
  os::Io send(std::span<const std::byte> /*bytes*/, std::span<const int> fds) override {
    fd_count_ += fds.size();
    return os::Io::kDone;
  }
  os::Io receive(std::vector<std::byte>& /*bytes*/, std::vector<os::Fd>& /*fds*/) override {
    return os::Io::kWouldBlock;
  }
  bool is_sending() const noexcept override { return false; }

 private:
  std::size_t& fd_count_;
};

// A thousand ranks that share memory get a million descriptors in all. Sending all of them in one
// turn would take seconds.
TEST_F(LinesTest, SendVeryManyDescriptorsInSeveralTurns) {
  constexpr std::size_t kCount = 1'000'000;
  constexpr std::size_t kMostATurn = 100'000;
  std::size_t sent_count = 0;
  connections_.connect(0, std::make_unique<LineThatTakesAll>(sent_count));
  connections_.post(0, reply("take these"), std::vector<int>(kCount, 0));
  connections_.post(1, reply("not held up"), {});
  while (sent_count < kCount) {
    const std::size_t before = sent_count;
    EXPECT_TRUE(handed_over_.empty());
    connections_.send_all(time(0));
    ASSERT_GT(sent_count, before);
    ASSERT_LE(sent_count, before + kMostATurn);
    if (before == 0) {
      EXPECT_EQ(rank_hears(1), "not held up");
    }
  }
  EXPECT_EQ(handed_over_, std::vector<std::size_t>{0});
}

TEST_F(LinesTest, ReadAllThatARankHasSaid) {
  rank_says(0, "not asked");
  for (const std::string text : {"one", "two"}) rank_says(1, text);
  connections_.read_all(1);
  EXPECT_EQ(heard_, (Texts{"1: one", "1: two"}));
}

TEST_F(LinesTest, HandOnWhatWasSaidBeforeTheEnd) {
  for (const std::string text : {"one", "two"}) rank_says(1, text);
  peers_[1].reset();
  turn();
  EXPECT_EQ(heard_, (Texts{"1: one", "1: two"}));
  EXPECT_FALSE(connections_.is_connected(1));
  EXPECT_TRUE(connections_.is_connected(0));
}

TEST_F(LinesTest, HandOnWhatIsTooLargeAsNoMessage) {
  const std::string bytes(os::kMaxMessageBytes + 1, 'x');
  ASSERT_EQ(::send(peers_[0].get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  rank_says(0, "and this");
  turn();
  EXPECT_EQ(heard_, (Texts{"0: no message", "0: and this"}));
  EXPECT_TRUE(connections_.is_connected(0));
}

TEST_F(LinesTest, ForgetWhatWaitsForALineThatHasEnded) {
  connections_.post(0, reply("for the one that was here"), {});
  connections_.disconnect(0);
  connections_.send_all(time(0));
  connect(0);
  connections_.post(0, reply("for the next one"), {});
  connections_.send_all(time(0));
  EXPECT_EQ(rank_hears(0), "for the next one");
}

TEST_F(LinesTest, AreForgottenWhileTheyAreHeard) {
  then_ = [this](std::size_t /*index*/) {
    connections_.disconnect(0);
    connections_.disconnect(1);
  };
  for (const std::size_t index : {0U, 1U}) {
    for (const std::string text : {"one", "two"}) rank_says(index, text);
  }
  turn();
  EXPECT_EQ(heard_, Texts{"0: one"});
  EXPECT_FALSE(connections_.is_connected(0));
  EXPECT_FALSE(connections_.is_connected(1));
}

// The connection is full until the rank reads. The next attempt to send is made after a while, not
// immediately.
TEST_F(LinesTest, WaitForRoom) {
  const std::string filler(30'000, 'x');
  std::size_t posted_count = 0;
  for (; !connections_.next_deadline(time(0)) && posted_count < 1000; ++posted_count) {
    connections_.post(0, reply(filler), {});
    connections_.send_all(time(0));
  }
  connections_.post(0, reply("last"), {});
  connections_.post(1, reply("not held up"), {});
  turn(1);
  EXPECT_EQ(connections_.next_deadline(time(1)), time(5));
  EXPECT_EQ(rank_hears(1), "not held up");

  std::size_t heard_count = 0;
  std::string last;
  for (int ms = 2; ms < 10'000 && last != "last"; ++ms) {
    turn(ms);
    while (const auto text = rank_hears(0)) {
      ++heard_count;
      last = *text;
      EXPECT_TRUE(last == filler || last == "last");
    }
  }
  EXPECT_EQ(heard_count, posted_count + 1);
  EXPECT_EQ(connections_.next_deadline(time(10'000)), std::nullopt);
}

}  // namespace
}  // namespace rota::rendezvous

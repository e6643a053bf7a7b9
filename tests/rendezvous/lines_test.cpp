// What is posted for a rank reaches it, and what ranks say is heard, whatever the lines have room
// for.
// Method: real message sockets; the test is the ranks at their other ends.
#include "rendezvous/lines.h"

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
    lines_.connect(index, std::make_unique<LocalLine>(std::move(ours)));
    peers_[index] = std::move(theirs);
  }

  void turn(int ms = 0) {
    lines_.send_all(time(ms));
    os::PollSet polls;
    lines_.add_to(polls, time(ms));
    polls.wait(base::Clock::now());
    lines_.handle(polls, time(ms));
  }

  void rank_says(std::size_t index, const std::string& text) {
    ASSERT_EQ(os::send_message(peers_[index].get(), encode(reply(text))), os::Io::kDone);
  }

  // What the rank finds on its line; empty where there is nothing.
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
  std::vector<std::size_t> lent_;
  std::function<void(std::size_t index)> then_;
  Lines lines_{
      2, [this](std::size_t index, std::span<const std::byte> bytes) { on_heard(index, bytes); },
      [this](std::size_t index) { lent_.push_back(index); }};
};

using Texts = std::vector<std::string>;

TEST_F(LinesTest, DeliverWhatIsPostedInOrder) {
  lines_.post(0, reply("one"), {});
  lines_.post(1, reply("other"), {});
  lines_.post(0, reply("two"), {});
  EXPECT_EQ(rank_hears(0), std::nullopt);
  lines_.send_all(time(0));
  EXPECT_EQ(rank_hears(0), "one");
  EXPECT_EQ(rank_hears(0), "two");
  EXPECT_EQ(rank_hears(0), std::nullopt);
  EXPECT_EQ(rank_hears(1), "other");
  EXPECT_TRUE(lent_.empty());
}

// As one that is encrypted: what came has left the socket, which does not tell of it any more.
class LineWithoutASign final : public Line {
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
  std::size_t unread_ = 1000;  // More than is heard in one turn.
};

TEST_F(LinesTest, HearOfWhatTheSystemDoesNotTell) {
  lines_.connect(0, std::make_unique<LineWithoutASign>());
  const auto start = base::Clock::now();
  for (int i = 0; i < 1000 && heard_.size() < 1000; ++i) {
    os::PollSet polls;
    lines_.add_to(polls, time(0));
    polls.wait(start + std::chrono::seconds(100));
    lines_.handle(polls, time(0));
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
  lines_.post(1, reply("take these"), fds);
  lines_.send_all(time(0));
  EXPECT_EQ(rank_hears(1), "take these");
  EXPECT_EQ(fds_.size(), os::kMaxMessageFds);
  EXPECT_EQ(rank_hears(1), "");
  EXPECT_EQ(fds_.size(), os::kMaxMessageFds);
  EXPECT_EQ(rank_hears(1), "");
  EXPECT_EQ(fds_.size(), 1U);
  EXPECT_EQ(rank_hears(1), std::nullopt);
  EXPECT_EQ(lent_, std::vector<std::size_t>{1});
}

// Notes what is sent, whatever that is.
class LineThatTakesAll final : public Line {
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

// As many as a thousand ranks are lent that share memory. One turn would take seconds.
TEST_F(LinesTest, SendVeryManyDescriptorsInSeveralTurns) {
  constexpr std::size_t kCount = 1'000'000;
  constexpr std::size_t kMostATurn = 100'000;
  std::size_t sent_count = 0;
  lines_.connect(0, std::make_unique<LineThatTakesAll>(sent_count));
  lines_.post(0, reply("take these"), std::vector<int>(kCount, 0));
  lines_.post(1, reply("not held up"), {});
  while (sent_count < kCount) {
    const std::size_t before = sent_count;
    EXPECT_TRUE(lent_.empty());
    lines_.send_all(time(0));
    ASSERT_GT(sent_count, before);
    ASSERT_LE(sent_count, before + kMostATurn);
    if (before == 0) {
      EXPECT_EQ(rank_hears(1), "not held up");
    }
  }
  EXPECT_EQ(lent_, std::vector<std::size_t>{0});
}

TEST_F(LinesTest, ReadAllThatARankHasSaid) {
  rank_says(0, "not asked");
  for (const std::string text : {"one", "two"}) rank_says(1, text);
  lines_.read_all(1);
  EXPECT_EQ(heard_, (Texts{"1: one", "1: two"}));
}

TEST_F(LinesTest, HandOnWhatWasSaidBeforeTheEnd) {
  for (const std::string text : {"one", "two"}) rank_says(1, text);
  peers_[1].reset();
  turn();
  EXPECT_EQ(heard_, (Texts{"1: one", "1: two"}));
  EXPECT_FALSE(lines_.is_connected(1));
  EXPECT_TRUE(lines_.is_connected(0));
}

TEST_F(LinesTest, HandOnWhatIsTooLargeAsNoMessage) {
  const std::string bytes(os::kMaxMessageBytes + 1, 'x');
  ASSERT_EQ(::send(peers_[0].get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  rank_says(0, "and this");
  turn();
  EXPECT_EQ(heard_, (Texts{"0: no message", "0: and this"}));
  EXPECT_TRUE(lines_.is_connected(0));
}

TEST_F(LinesTest, ForgetWhatWaitsForALineThatHasEnded) {
  lines_.post(0, reply("for the one that was here"), {});
  lines_.disconnect(0);
  lines_.send_all(time(0));
  connect(0);
  lines_.post(0, reply("for the next one"), {});
  lines_.send_all(time(0));
  EXPECT_EQ(rank_hears(0), "for the next one");
}

TEST_F(LinesTest, AreForgottenWhileTheyAreHeard) {
  then_ = [this](std::size_t /*index*/) {
    lines_.disconnect(0);
    lines_.disconnect(1);
  };
  for (const std::size_t index : {0U, 1U}) {
    for (const std::string text : {"one", "two"}) rank_says(index, text);
  }
  turn();
  EXPECT_EQ(heard_, Texts{"0: one"});
  EXPECT_FALSE(lines_.is_connected(0));
  EXPECT_FALSE(lines_.is_connected(1));
}

// The line is full until the rank reads; and is asked again after a while, not at once.
TEST_F(LinesTest, WaitForRoom) {
  const std::string filler(30'000, 'x');
  std::size_t posted_count = 0;
  for (; !lines_.next_deadline(time(0)) && posted_count < 1000; ++posted_count) {
    lines_.post(0, reply(filler), {});
    lines_.send_all(time(0));
  }
  lines_.post(0, reply("last"), {});
  lines_.post(1, reply("not held up"), {});
  turn(1);
  EXPECT_EQ(lines_.next_deadline(time(1)), time(5));
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
  EXPECT_EQ(lines_.next_deadline(time(10'000)), std::nullopt);
}

}  // namespace
}  // namespace rota::rendezvous

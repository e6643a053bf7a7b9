// Tests what other threads of a rank can do while one of its threads waits until the rank may begin
// to train. Method: the test plays the launcher at the other end of a socket.
#include "communicator/membership.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "os/message_socket.h"

namespace rota {
namespace {

using rendezvous::Message;
using rendezvous::MessageType;

constexpr std::chrono::seconds kVeryLong{10};

class MembershipTest : public ::testing::Test {
 protected:
  MembershipTest() : MembershipTest(os::make_message_socket_pair()) {}
  explicit MembershipTest(std::pair<os::Fd, os::Fd> ends) : launcher_(std::move(ends.first)) {
    membership_.connect(rendezvous::Client(std::move(ends.second)), nullptr);
  }

  // Returns the next message of this type that the launcher receives within kVeryLong.
  std::optional<Message> heard(MessageType type) {
    const auto end = base::Clock::now() + kVeryLong;
    std::vector<std::byte> bytes;
    std::vector<os::Fd> fds;
    while (base::Clock::now() < end) {
      if (os::receive_message(launcher_.get(), bytes, fds) != os::Io::kDone) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      auto message = rendezvous::decode(bytes);
      if (message && message->type == type) return message;
    }
    return std::nullopt;
  }

  void say(const Message& message) {
    os::send_message(launcher_.get(), rendezvous::encode(message), {});
  }

  // Lets another thread call begin_training(), and returns when the launcher has its request.
  void ask(base::Duration timeout = kVeryLong) {
    training_ =
        std::async(std::launch::async, [&, timeout] { membership_.begin_training(timeout); });
    request_ = heard(MessageType::kTraining);
    ASSERT_TRUE(request_);
  }

  bool is_waiting() const {
    return training_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  }

  os::Fd launcher_;
  Membership membership_{0, 2};
  std::optional<Message> request_;
  std::future<void> training_;
};

// Each of these calls takes the mutex. With the mutex held, they would return only after the wait.
TEST_F(MembershipTest, OtherThreadsGoOnWhileTheRankWaitsToTrain) {
  ask();
  EXPECT_FALSE(membership_.hear());
  EXPECT_FALSE(membership_.departure(1));
  membership_.report_waiting(1, "0#17", "all-reduce");
  EXPECT_TRUE(heard(MessageType::kWaiting));
  membership_.abort(ErrorCode::kAborted, std::nullopt, "enough");
  EXPECT_TRUE(heard(MessageType::kAbort));
  EXPECT_TRUE(is_waiting());
  say({.type = MessageType::kReply, .id = request_->id});
  EXPECT_NO_THROW(training_.get());
}

// The launcher says the first cause only once, but each communicator of the rank needs it.
TEST_F(MembershipTest, TheCauseThatEndsAWaitToTrainIsKept) {
  ask();
  say({.type = MessageType::kAborted, .error = ErrorCode::kAborted, .blamed = 1, .text = "why"});
  try {
    training_.get();
    FAIL() << "the job is broken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAborted);
    EXPECT_EQ(error.blamed_rank(), 1U);
  }
  ASSERT_TRUE(membership_.hear());
  EXPECT_EQ(membership_.hear()->blamed_rank(), 1U);
}

// The answer to a call that gave up also lets the next call begin.
TEST_F(MembershipTest, ALateAnswerLetsALaterCallBegin) {
  ask(std::chrono::milliseconds(1));
  try {
    training_.get();
    FAIL() << "nobody has answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  }
  say({.type = MessageType::kReply, .id = request_->id});
  EXPECT_NO_THROW(membership_.begin_training(kVeryLong));
}

}  // namespace
}  // namespace rota

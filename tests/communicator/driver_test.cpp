// Tests what a rank does when it gives up, and in which order. Method: the test holds the
// launcher's end of a socket, and a transport records its calls.
#include "communicator/driver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "communicator/silent_transport.h"
#include "os/message_socket.h"

namespace rota {
namespace {

using rendezvous::Message;
using rendezvous::MessageType;

// Holds the launcher's end of the socket. Lists the messages that the launcher received and the
// calls that the transport recorded, in order.
class Record {
 public:
  explicit Record(os::Fd launcher) : launcher_(std::move(launcher)) {}

  void say(const Message& message) {
    os::send_message(launcher_.get(), rendezvous::encode(message), {});
  }
  void note(const std::string& what) {
    take_in();
    all_.push_back(what);
  }
  const std::vector<std::string>& all() {
    take_in();
    return all_;
  }

 private:
  void take_in() {
    std::vector<std::byte> bytes;
    std::vector<os::Fd> fds;
    while (os::receive_message(launcher_.get(), bytes, fds) == os::Io::kDone) {
      const auto message = rendezvous::decode(bytes);
      if (message && message->type == MessageType::kAbort) {
        all_.push_back("the launcher hears: " + message->text);
      }
    }
  }

  os::Fd launcher_;
  std::vector<std::string> all_;
};

class RecordedTransport final : public testing::SilentTransport {
 public:
  explicit RecordedTransport(Record& record) : record_(record) {}

  void begin_abort(std::size_t) noexcept override { record_.note("peers stop"); }
  void abort(const transport::Cause& cause) noexcept override {
    record_.note("peers hear: " + cause.text);
  }

 private:
  Record& record_;
};

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() : DriverTest(os::make_message_socket_pair()) {}
  explicit DriverTest(std::pair<os::Fd, os::Fd> ends)
      : record_(std::move(ends.first)),
        group_(testing::group_over(std::make_unique<RecordedTransport>(record_),
                                   std::chrono::seconds(1))) {
    group_.membership = std::make_shared<Membership>(0, 2);
    group_.membership->connect(rendezvous::Client(std::move(ends.second)), nullptr);
  }

  Record record_;
  Group group_;
  OperationQueue queue_;
  Driver driver_{group_, queue_};
};

// Peers that share memory read this rank's buffers until they are stopped, and the launcher may
// answer late. So the peers are stopped first.
TEST_F(DriverTest, StopsItsPeersBeforeItTellsTheLauncherAndThemWhy) {
  record_.say({.type = MessageType::kAborted,
               .error = ErrorCode::kAborted,
               .blamed = 1,
               .text = "rank 1 (b): the first of all"});
  const Error error = driver_.fail(Error(ErrorCode::kTimeout, "it waits in vain", 1));
  EXPECT_STREQ(error.what(), "rank 1 (b): the first of all");
  const std::vector<std::string> expected{"peers stop",
                                          "the launcher hears: rank 0 (a): it waits in vain",
                                          "peers hear: rank 1 (b): the first of all"};
  EXPECT_EQ(record_.all(), expected);
}

}  // namespace
}  // namespace rota

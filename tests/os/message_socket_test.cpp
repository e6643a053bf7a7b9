// Messages over a message socket arrive, even if their sender is gone by then.
#include "os/message_socket.h"

#include <gtest/gtest.h>

#include <string>

#include "base/byte_stream.h"

namespace rota::os {
namespace {

class MessageSocket : public ::testing::Test {
 protected:
  MessageSocket() {
    auto ends = make_message_socket_pair();
    ours_ = std::move(ends.first);
    theirs_ = std::move(ends.second);
  }

  // Returns "" if nothing is there yet, and "closed" if nothing will come.
  std::string receive() {
    std::vector<std::byte> bytes;
    std::vector<Fd> fds;
    const Io io = receive_message(ours_.get(), bytes, fds);
    if (io == Io::kClosed) return "closed";
    if (io == Io::kWouldBlock) return "";
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  Fd ours_;
  Fd theirs_;
};

TEST_F(MessageSocket, BringsWhatAPeerSentBeforeItWasGone) {
  EXPECT_EQ(receive(), "");
  send_message(theirs_.get(), base::bytes_of("one"));
  send_message(theirs_.get(), base::bytes_of("two"));
  theirs_.reset();
  EXPECT_EQ(receive(), "one");
  EXPECT_EQ(receive(), "two");
  EXPECT_EQ(receive(), "closed");
}

// If the sender left bytes unread, the system reports a reset connection before the message.
TEST_F(MessageSocket, BringsWhatAPeerSentThatLeftSomethingUnread) {
  send_message(ours_.get(), base::bytes_of("never read"));
  send_message(theirs_.get(), base::bytes_of("why it ends"));
  theirs_.reset();
  EXPECT_EQ(receive(), "why it ends");
  EXPECT_EQ(receive(), "closed");
}

TEST_F(MessageSocket, IsClosedToWhoSendsToAPeerThatIsGone) {
  theirs_.reset();
  EXPECT_EQ(send_message(ours_.get(), base::bytes_of("text")), Io::kClosed);
}

}  // namespace
}  // namespace rota::os

// A connection over a stream delivers its peer's messages whole and in order, or it ends. Method: a
// real connection on loopback. At its other end is another connection, or the test itself, which
// knows the keys and sends whatever it likes.
#include "rendezvous/remote_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "auth/frame_seal.h"
#include "base/byte_stream.h"
#include "os/address.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "rendezvous/client.h"

namespace rota::rendezvous {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void wait_for(int fd, bool for_writing = false) {
  os::PollSet polls;
  polls.add(fd, !for_writing, for_writing);
  polls.wait(base::Clock::now() + std::chrono::seconds(10));
}

class RemoteLineTest : public ::testing::Test {
 protected:
  // Both ends have small buffers, so that few bytes fill them.
  RemoteLineTest() {
    const os::Listener listener = os::listen_on_loopback();
    keep_few(listener.socket.get());
    os::Fd socket = os::start_connect(os::parse_address(listener.address)).socket;
    keep_few(socket.get());
    wait_for(listener.socket.get());
    peer_ = os::accept_connection(listener.socket.get()).socket;
    connection_ = std::make_unique<RemoteConnection>(std::move(socket), keys_);
  }

  static void keep_few(int socket) {
    const int bytes = 1 << 16;
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }

  // Returns the peer's next frame in its wire format.
  Bytes framed(const std::string& message) {
    base::ByteWriter frame;
    frame.write(message);
    Bytes bytes = frame.take();
    const auto tag = peer_seal_.next_tag(bytes);
    bytes.insert(bytes.end(), tag.begin(), tag.end());
    return bytes;
  }

  void peer_sends(std::span<const std::byte> bytes) {
    ASSERT_EQ(os::send_some(peer_.get(), bytes, {}).bytes, bytes.size());
    wait_for(connection_->fd());
  }

  // Lets the peer read until it has `most_bytes` bytes, or the stream has ended. Returns these
  // bytes.
  Bytes peer_reads(std::size_t most_bytes) {
    Bytes heard;
    Bytes piece(1 << 16);
    while (heard.size() < most_bytes) {
      wait_for(peer_.get());
      const os::Moved moved = os::receive_some(peer_.get(), piece);
      if (moved.bytes == 0) break;
      heard.insert(heard.end(), piece.begin(),
                   piece.begin() + static_cast<std::ptrdiff_t>(moved.bytes));
    }
    return heard;
  }

  os::Io receive(RemoteConnection& connection) { return connection.receive(bytes_, fds_); }
  os::Io receive() { return receive(*connection_); }

  // Returns the peer as a RemoteConnection. From this call on, the test no longer plays the peer.
  RemoteConnection peer_line() { return {std::move(peer_), {keys_.from_peer, keys_.to_peer}}; }

  // Returns the next message of a connection; empty at the connection's end. The peer must already
  // have sent that message, or have closed.
  std::optional<Bytes> next_message(RemoteConnection& connection) {
    os::Io io = receive(connection);
    for (; io == os::Io::kWouldBlock; io = receive(connection)) wait_for(connection.fd());
    return io == os::Io::kDone ? std::optional(bytes_) : std::nullopt;
  }

  // Sends messages of varying letters. kKept: until the system's buffers are full and the
  // connection has to keep some messages. kRefused: until the connection refuses another message.
  enum class Until { kKept, kRefused };
  std::vector<Bytes> fill(Until until) {
    std::vector<Bytes> sent;
    while (until == Until::kRefused || !connection_->is_sending()) {
      Bytes message(kFillerBytes, static_cast<std::byte>('a' + sent.size() % 26));
      const os::Io io = connection_->send(message, {});
      if (io != os::Io::kDone || sent.size() == 10000) {
        EXPECT_EQ(io, os::Io::kWouldBlock);
        break;
      }
      sent.push_back(std::move(message));
    }
    return sent;
  }

  // Method: the peer reads some bytes, so the system's buffers have room for the bytes that the
  // connection still keeps.
  void expect_all_arrives_after_the_end() {
    const std::size_t all_bytes = fill(Until::kKept).size() * (4 + kFillerBytes + 16);
    const std::size_t before = peer_reads(3 * kFillerBytes).size();
    wait_for(connection_->fd(), true);
    ASSERT_TRUE(connection_->is_sending());
    connection_.reset();
    EXPECT_EQ(before + peer_reads(all_bytes).size(), all_bytes);
  }

  static constexpr std::size_t kFillerBytes = 10000;

  const auth::SessionKeys keys_{auth::random_key(), auth::random_key()};
  auth::FrameSeal peer_seal_{keys_.from_peer};
  os::Fd peer_;
  std::unique_ptr<RemoteConnection> connection_;
  Bytes bytes_;
  std::vector<os::Fd> fds_;
};

TEST_F(RemoteLineTest, CarriesMessagesBothWays) {
  RemoteConnection peer = peer_line();
  const Bytes longest(kMaxFrameBytes, std::byte{7});
  EXPECT_EQ(connection_->send(bytes_of("one"), {}), os::Io::kDone);
  EXPECT_EQ(connection_->send(longest, {}), os::Io::kDone);
  EXPECT_EQ(peer.send(bytes_of("other"), {}), os::Io::kDone);
  EXPECT_EQ(next_message(peer), bytes_of("one"));
  EXPECT_EQ(next_message(*connection_), bytes_of("other"));
  while (receive(peer) != os::Io::kDone) ASSERT_EQ(receive(), os::Io::kWouldBlock);
  EXPECT_EQ(bytes_, longest);
  EXPECT_EQ(receive(), os::Io::kWouldBlock);
  EXPECT_EQ(receive(peer), os::Io::kWouldBlock);
}

// Other releases must follow the table at the top of remote_connection.h.
TEST_F(RemoteLineTest, FramesAMessageByItsLengthAndATag) {
  EXPECT_EQ(connection_->send(bytes_of("word"), {}), os::Io::kDone);
  const Bytes frame = peer_reads(4 + 4 + 16);
  const Bytes sealed(frame.begin(), frame.begin() + 8);
  Bytes expected = {std::byte{4}, std::byte{0}, std::byte{0}, std::byte{0}};
  const Bytes word = bytes_of("word");
  expected.insert(expected.end(), word.begin(), word.end());
  EXPECT_EQ(sealed, expected);
  auth::FrameSeal checking(keys_.to_peer);
  EXPECT_TRUE(checking.matches_next(sealed, std::span(frame).last<16>()));
}

TEST_F(RemoteLineTest, PutsAFrameTogetherFromPiecesOfAByte) {
  for (const std::string message : {"first", "", "third"}) {
    const Bytes frame = framed(message);
    for (const std::byte& byte : std::span(frame).first(frame.size() - 1)) {
      peer_sends(std::span(&byte, 1));
      ASSERT_EQ(receive(), os::Io::kWouldBlock);
    }
    peer_sends(std::span(frame).last(1));
    ASSERT_EQ(receive(), os::Io::kDone);
    EXPECT_EQ(bytes_, bytes_of(message));
  }
}

TEST_F(RemoteLineTest, TakesFramesThatComeTogetherOneByOne) {
  Bytes frames = framed("first");
  const Bytes second = framed("second");
  frames.insert(frames.end(), second.begin(), second.end());
  peer_sends(frames);
  EXPECT_EQ(receive(), os::Io::kDone);
  EXPECT_EQ(bytes_, bytes_of("first"));
  EXPECT_EQ(receive(), os::Io::kDone);
  EXPECT_EQ(bytes_, bytes_of("second"));
  EXPECT_EQ(receive(), os::Io::kWouldBlock);
}

// The damage is in the length, the message or the tag of one frame. The next frame is intact, and
// is not read.
class DamagedFrame : public RemoteLineTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(DamagedFrame, EndsTheLine) {
  Bytes frame = framed("a message");
  const Bytes genuine = framed("another one");
  frame[GetParam()] ^= std::byte{1};
  frame.insert(frame.end(), genuine.begin(), genuine.end());
  peer_sends(frame);
  bytes_ = bytes_of("before");
  EXPECT_EQ(receive(), os::Io::kClosed);
  EXPECT_EQ(bytes_, bytes_of("before"));
  EXPECT_EQ(receive(), os::Io::kClosed);
  EXPECT_EQ(connection_->send(bytes_of("word"), {}), os::Io::kClosed);
  EXPECT_FALSE(connection_->is_sending());
  EXPECT_TRUE(peer_reads(1).empty());
}

INSTANTIATE_TEST_SUITE_P(RemoteLineTest, DamagedFrame, ::testing::Values(0, 4, 12, 13, 28));

TEST_F(RemoteLineTest, EndsAtAFrameThatWasSaidBefore) {
  const Bytes frame = framed("pay");
  peer_sends(frame);
  EXPECT_EQ(receive(), os::Io::kDone);
  peer_sends(frame);
  EXPECT_EQ(receive(), os::Io::kClosed);
}

// Only the length of the frame has arrived.
TEST_F(RemoteLineTest, EndsAtAFrameThatIsTooLongBeforeMoreOfItComes) {
  base::ByteWriter length;
  length.write(static_cast<std::uint32_t>(kMaxFrameBytes + 1));
  peer_sends(length.take());
  EXPECT_EQ(receive(), os::Io::kClosed);
}

TEST_F(RemoteLineTest, WaitsForTheRestOfTheLongestFrame) {
  base::ByteWriter length;
  length.write(static_cast<std::uint32_t>(kMaxFrameBytes));
  peer_sends(length.take());
  EXPECT_EQ(receive(), os::Io::kWouldBlock);
}

TEST_F(RemoteLineTest, HandsOnWhatCameBeforeTheEnd) {
  Bytes frames = framed("last words");
  const Bytes half = framed("never finished");
  frames.insert(frames.end(), half.begin(), half.end() - 1);
  peer_sends(frames);
  peer_.reset();
  EXPECT_EQ(next_message(*connection_), bytes_of("last words"));
  EXPECT_EQ(next_message(*connection_), std::nullopt);
}

// If a peer does not read, the connection keeps more than the longest message. Then it refuses
// further messages.
TEST_F(RemoteLineTest, RefusesMoreUntilThePeerHasRead) {
  const std::size_t in_buffers = fill(Until::kKept).size();
  const std::vector<Bytes> kept = fill(Until::kRefused);
  EXPECT_GT((1 + kept.size()) * kFillerBytes, kMaxFrameBytes);
  EXPECT_LT(kept.size() * kFillerBytes, 2 * kMaxFrameBytes);
  EXPECT_TRUE(connection_->is_sending());
  EXPECT_EQ(connection_->send(bytes_of("word"), {}), os::Io::kWouldBlock);

  RemoteConnection peer = peer_line();
  for (std::size_t i = 0; i < in_buffers + kept.size();) {
    EXPECT_EQ(receive(), os::Io::kWouldBlock);  // Also sends as much as fits.
    if (receive(peer) != os::Io::kDone) continue;
    EXPECT_TRUE(i < in_buffers || bytes_ == kept[i - in_buffers]) << i;
    ++i;
  }
  EXPECT_FALSE(connection_->is_sending());
  EXPECT_EQ(connection_->send(bytes_of("word"), {}), os::Io::kDone);
  EXPECT_EQ(next_message(peer), bytes_of("word"));
}

TEST_F(RemoteLineTest, SendsTheRestWhenItIsDestroyed) { expect_all_arrives_after_the_end(); }

// Method: the system's buffers are full. The coordinator reads only when the rank already tries to
// leave. If the kLeave were lost, the coordinator would tell all ranks that this one has ended.
TEST_F(RemoteLineTest, BringsTheLeaveOfARankToACoordinatorThatReadsLate) {
  fill(Until::kKept);
  std::optional<Message> last;
  std::thread coordinator([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    RemoteConnection peer = peer_line();
    while (const auto bytes = next_message(peer)) last = decode(*bytes);
  });
  {
    Client rank(std::move(connection_), 0);
    rank.leave();
  }
  coordinator.join();
  EXPECT_EQ(last, Message{.type = MessageType::kLeave});
}

// If a socket is closed with unread bytes, the system discards the bytes that were sent last.
TEST_F(RemoteLineTest, SendsTheRestAlsoToAPeerThatWasNotHeard) {
  peer_sends(framed("are you there?"));
  expect_all_arrives_after_the_end();
}

}  // namespace
}  // namespace rota::rendezvous

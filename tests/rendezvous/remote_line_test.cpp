// A line over a stream hands on what its peer said, whole and in order, or else it ends.
// Method: a real connection on loopback. At its other end is a line, or the test itself, which
// knows the keys and says what it likes.
#include "rendezvous/remote_line.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>

#include "auth/frame_seal.h"
#include "base/byte_stream.h"
#include "os/address.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"

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
  // Both ends keep few bytes, so that it takes few to fill them.
  RemoteLineTest() {
    const os::Listener listener = os::listen_on_loopback();
    keep_few(listener.socket.get());
    os::Fd socket = os::start_connect(os::parse_address(listener.address)).socket;
    keep_few(socket.get());
    wait_for(listener.socket.get());
    peer_ = os::accept_connection(listener.socket.get()).socket;
    line_ = std::make_unique<RemoteLine>(std::move(socket), keys_);
  }

  static void keep_few(int socket) {
    const int bytes = 1 << 16;
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }

  // The peer's next frame, as it goes over the wire.
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
    wait_for(line_->fd());
  }

  // What the peer reads until it has so many bytes, or the stream has ended.
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

  os::Io receive(RemoteLine& line) { return line.receive(bytes_, fds_); }
  os::Io receive() { return receive(*line_); }

  // From here on the peer is a line, too.
  RemoteLine peer_line() { return {std::move(peer_), {keys_.from_peer, keys_.to_peer}}; }

  // The next message over a line whose peer says no more than it has; empty at its end.
  std::optional<Bytes> next_message(RemoteLine& line) {
    os::Io io = receive(line);
    for (; io == os::Io::kWouldBlock; io = receive(line)) wait_for(line.fd());
    return io == os::Io::kDone ? std::optional(bytes_) : std::nullopt;
  }

  // Sends messages, each of another letter, until the system's buffers are full and the line has
  // to keep some of them; or until it keeps as many as it does.
  enum class Until { kKept, kRefused };
  std::vector<Bytes> fill(Until until) {
    std::vector<Bytes> sent;
    while (until == Until::kRefused || !line_->is_sending()) {
      Bytes message(kFillerBytes, static_cast<std::byte>('a' + sent.size() % 26));
      const os::Io io = line_->send(message, {});
      if (io != os::Io::kDone || sent.size() == 10000) {
        EXPECT_EQ(io, os::Io::kWouldBlock);
        break;
      }
      sent.push_back(std::move(message));
    }
    return sent;
  }

  // Method: most of what was sent lies in the system's buffers, and there is room for the rest.
  void expect_all_arrives_after_the_end() {
    const std::size_t all_bytes = fill(Until::kKept).size() * (4 + kFillerBytes + 16);
    const std::size_t before = peer_reads(3 * kFillerBytes).size();
    wait_for(line_->fd(), true);
    ASSERT_TRUE(line_->is_sending());
    line_.reset();
    EXPECT_EQ(before + peer_reads(all_bytes).size(), all_bytes);
  }

  static constexpr std::size_t kFillerBytes = 10000;

  const auth::SessionKeys keys_{auth::random_key(), auth::random_key()};
  auth::FrameSeal peer_seal_{keys_.from_peer};
  os::Fd peer_;
  std::unique_ptr<RemoteLine> line_;
  Bytes bytes_;
  std::vector<os::Fd> fds_;
};

TEST_F(RemoteLineTest, CarriesMessagesBothWays) {
  RemoteLine peer = peer_line();
  const Bytes longest(kMaxFrameBytes, std::byte{7});
  EXPECT_EQ(line_->send(bytes_of("one"), {}), os::Io::kDone);
  EXPECT_EQ(line_->send(longest, {}), os::Io::kDone);
  EXPECT_EQ(peer.send(bytes_of("other"), {}), os::Io::kDone);
  EXPECT_EQ(next_message(peer), bytes_of("one"));
  EXPECT_EQ(next_message(*line_), bytes_of("other"));
  while (receive(peer) != os::Io::kDone) ASSERT_EQ(receive(), os::Io::kWouldBlock);
  EXPECT_EQ(bytes_, longest);
  EXPECT_EQ(receive(), os::Io::kWouldBlock);
  EXPECT_EQ(receive(peer), os::Io::kWouldBlock);
}

// What other releases are held to: the table at the top of remote_line.h.
TEST_F(RemoteLineTest, FramesAMessageByItsLengthAndATag) {
  EXPECT_EQ(line_->send(bytes_of("word"), {}), os::Io::kDone);
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

// In the length, the message and the tag. What follows is as it should be, and is not read.
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
  EXPECT_EQ(line_->send(bytes_of("word"), {}), os::Io::kClosed);
  EXPECT_FALSE(line_->is_sending());
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

// Its length is all that has come of it.
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
  EXPECT_EQ(next_message(*line_), bytes_of("last words"));
  EXPECT_EQ(next_message(*line_), std::nullopt);
}

// More than the longest message is kept for a peer that does not read, and then no more.
TEST_F(RemoteLineTest, RefusesMoreUntilThePeerHasRead) {
  const std::size_t in_buffers = fill(Until::kKept).size();
  const std::vector<Bytes> kept = fill(Until::kRefused);
  EXPECT_GT((1 + kept.size()) * kFillerBytes, kMaxFrameBytes);
  EXPECT_LT(kept.size() * kFillerBytes, 2 * kMaxFrameBytes);
  EXPECT_TRUE(line_->is_sending());
  EXPECT_EQ(line_->send(bytes_of("word"), {}), os::Io::kWouldBlock);

  RemoteLine peer = peer_line();
  for (std::size_t i = 0; i < in_buffers + kept.size();) {
    EXPECT_EQ(receive(), os::Io::kWouldBlock);  // And sends what there is room for.
    if (receive(peer) != os::Io::kDone) continue;
    EXPECT_TRUE(i < in_buffers || bytes_ == kept[i - in_buffers]) << i;
    ++i;
  }
  EXPECT_FALSE(line_->is_sending());
  EXPECT_EQ(line_->send(bytes_of("word"), {}), os::Io::kDone);
  EXPECT_EQ(next_message(peer), bytes_of("word"));
}

TEST_F(RemoteLineTest, SendsTheRestWhenItIsDestroyed) { expect_all_arrives_after_the_end(); }

// What is left unread when a socket is closed makes the system throw away what was sent last.
TEST_F(RemoteLineTest, SendsTheRestAlsoToAPeerThatWasNotHeard) {
  peer_sends(framed("are you there?"));
  expect_all_arrives_after_the_end();
}

}  // namespace
}  // namespace rota::rendezvous

// Tests what a rank receives from its peers over TCP if bytes arrive in pieces, and which events
// wake the rank. Method: rank 0 has a real transport. Rank 1 is a bare socket, and the test chooses
// the pieces.
#include "transport/tcp/transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include <rota/error.h>

#include "os/tcp_socket.h"
#include "testing/tcp_world.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using testing::kVeryLong;

class TcpTransportTest : public ::testing::Test {
 protected:
  TcpTransportTest() {
    std::vector<auth::Stream> sockets(2);
    os::Fd own;
    std::tie(peer_, own) = testing::connected_sockets();
    sockets[1] = std::move(own);
    transport_.emplace(std::move(sockets));
  }

  void peer_sends(std::span<const std::byte> bytes) {
    ASSERT_EQ(os::send_some(peer_.get(), bytes, {}).bytes, bytes.size());
  }

  bool rest_ends_early() {
    const auto start = Clock::now();
    transport_->sleep(kVeryLong);
    return Clock::now() - start < kVeryLong / 2;
  }

  // Returns whether a header comes within kVeryLong.
  bool look_until_moved(transport::Channel& channel) {
    const auto end = Clock::now() + kVeryLong;
    while (!channel.incoming()) {
      if (Clock::now() > end) return false;
      transport_->sleep(kVeryLong);
    }
    return true;
  }

  // Ends the peer, which has not read what rank 0 has sent. Then sends until the kernel refuses,
  // and returns what the channel makes of that.
  Progress send_to_an_ended_peer(SocketChannel& channel) {
    channel.start_send({}, {});
    EXPECT_EQ(channel.progress_send(), Progress::kDone);
    peer_.reset();
    const auto end = Clock::now() + kVeryLong;
    Progress progress = Progress::kDone;
    while (progress == Progress::kDone && Clock::now() < end) {
      channel.start_send({}, {});
      progress = channel.progress_send();
    }
    return progress;
  }

  SocketChannel& channel_to_peer() { return static_cast<SocketChannel&>(transport_->channel(1)); }

  os::Fd peer_;
  std::optional<Transport> transport_;
};

TEST_F(TcpTransportTest, RestEndsWhenTheOtherHalfOfAHeaderComes) {
  const Header header{.bytes = 0, .signature = {5, 6, 7, 8}};
  const auto bytes = std::as_bytes(std::span(&header, 1));
  auto& channel = transport_->channel(1);
  ASSERT_EQ(channel.incoming(), nullptr);  // Nothing yet: worth waiting for.
  peer_sends(bytes.first(10));
  ASSERT_TRUE(rest_ends_early());
  ASSERT_EQ(channel.incoming(), nullptr);
  peer_sends(bytes.subspan(10));
  EXPECT_TRUE(rest_ends_early());
  ASSERT_NE(channel.incoming(), nullptr);
  EXPECT_EQ(channel.incoming()->signature, header.signature);
}

TEST_F(TcpTransportTest, RestEndsWhenAnotherThreadSaysSo) {
  std::thread waker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    transport_->wake();
  });
  EXPECT_TRUE(rest_ends_early());
  waker.join();
}

// A thread that wakes another one cannot know whether that thread already sleeps.
TEST_F(TcpTransportTest, AWakeBeforeARestEndsThatOneAlone) {
  transport_->wake();
  transport_->wake();
  EXPECT_TRUE(rest_ends_early());
  const auto start = Clock::now();
  transport_->sleep(std::chrono::milliseconds(20));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(20));
}

// Method: the peer's pieces end in the middle of elements, all through a message that is several
// times as long as the slot. The received elements must equal the sent ones, and each byte must be
// copied once. Only then does the count of staged bytes equal the length of the message.
TEST_F(TcpTransportTest, ElementsThatComeInPiecesAreWholeAndCopiedOnce) {
  std::vector<double> sent(100'000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<double>(i);
  const auto payload = std::as_bytes(std::span(sent));
  const Header header{.bytes = payload.size(), .signature = {}};
  peer_sends(std::as_bytes(std::span(&header, 1)));
  auto& channel = transport_->channel(1);
  ASSERT_TRUE(look_until_moved(channel));

  std::vector<double> taken;
  const std::byte* torn_at = nullptr;  // Start of an element that had not come in full.
  constexpr std::size_t kPiece = 8 * 5000 + 3;
  for (std::size_t start = 0; start < payload.size(); start += kPiece) {
    const std::size_t end = std::min(start + kPiece, payload.size());
    peer_sends(payload.subspan(start, end - start));
    while (taken.size() < end / sizeof(double)) {
      const auto view = channel.peek();
      if (torn_at) {
        EXPECT_EQ(view.data(), torn_at) << "an incomplete element was moved";
      }
      const std::size_t count = view.size() / sizeof(double);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(view.data()) % alignof(double), 0U);
      const auto* elements = reinterpret_cast<const double*>(view.data());
      taken.insert(taken.end(), elements, elements + count);
      channel.release(count * sizeof(double));
      const bool is_torn = view.size() % sizeof(double) != 0;
      torn_at = is_torn ? view.data() + count * sizeof(double) : nullptr;
      if (count == 0) transport_->sleep(kVeryLong);
    }
  }
  channel.finish_receive();
  EXPECT_EQ(taken, sent);
  EXPECT_EQ(transport_->staged_bytes(), payload.size());
}

// Method: the peer has sent a message and ended before rank 0 looks.
TEST_F(TcpTransportTest, APeerThatEndedIsLostAfterAllThatItHadSent) {
  ASSERT_TRUE(transport_->ends_by_itself(1));
  const Header header{.bytes = 0, .signature = {}};
  peer_sends(std::as_bytes(std::span(&header, 1)));
  peer_.reset();
  auto& channel = transport_->channel(1);
  ASSERT_TRUE(look_until_moved(channel));
  channel.finish_receive();
  EXPECT_THROW(look_until_moved(channel), Error);
}

// Method: the peer has sent a message, and ends without reading. So the kernel refuses what rank 0
// sends, while the peer's message is still unread.
TEST_F(TcpTransportTest, AFailedSendLosesNothingThatThePeerHadSent) {
  const Header header{.bytes = sizeof(double), .signature = {5, 6, 7, 8}};
  const double sent = 42;
  peer_sends(std::as_bytes(std::span(&header, 1)));
  peer_sends(std::as_bytes(std::span(&sent, 1)));
  ASSERT_EQ(send_to_an_ended_peer(channel_to_peer()), Progress::kNone);
  EXPECT_FALSE(channel_to_peer().waits_for_room());  // Otherwise a sleep would end immediately.

  ASSERT_NE(channel_to_peer().incoming(), nullptr);
  EXPECT_EQ(channel_to_peer().incoming()->signature, header.signature);
  double received = 0;
  EXPECT_EQ(channel_to_peer().receive(std::as_writable_bytes(std::span(&received, 1))),
            sizeof received);
  channel_to_peer().finish_receive();
  EXPECT_EQ(received, sent);
  try {
    channel_to_peer().progress_send();
    FAIL() << "nothing is left to read, so the send must fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    EXPECT_EQ(error.blamed_rank(), 1U);
  }
}

TEST_F(TcpTransportTest, AFailedSendIsAnErrorAtOnceIfNothingIsUnread) {
  EXPECT_THROW(send_to_an_ended_peer(channel_to_peer()), Error);
}

// A rank that only sends to the peer never reads what the peer has sent to a later operation.
TEST_F(TcpTransportTest, AFailedSendIsAnErrorIfNobodyReads) {
  const Header header{.bytes = 0, .signature = {}};
  peer_sends(std::as_bytes(std::span(&header, 1)));
  ASSERT_EQ(send_to_an_ended_peer(channel_to_peer()), Progress::kNone);
  const auto send_again = [this] {
    const auto end = Clock::now() + kVeryLong;
    while (Clock::now() < end) channel_to_peer().progress_send();
  };
  EXPECT_THROW(send_again(), Error);
}

}  // namespace
}  // namespace rota::transport::tcp

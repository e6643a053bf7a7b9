// What a rank sees of its peers over TCP while bytes come in pieces, and when it is woken.
// Method: rank 0 has a real transport; rank 1 is a bare socket, whose pieces the test chooses.
#include "transport/tcp/transport.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using std::chrono::seconds;

// What waits as long as this was not woken; what ends within half of it was.
constexpr seconds kVeryLong{10};

class TcpTransportTest : public ::testing::Test {
 protected:
  TcpTransportTest() {
    const os::Listener listener = os::listen_on_loopback();
    peer_ = os::start_connect(listener.address).socket;
    os::PollSet polls;
    polls.add(listener.socket.get(), true, false);
    polls.wait(Clock::now() + kVeryLong);
    std::vector<os::Fd> sockets(2);
    sockets[1] = os::accept_connection(listener.socket.get());
    transport_.emplace(std::move(sockets));
  }

  void peer_sends(std::span<const std::byte> bytes) {
    ASSERT_EQ(os::send_some(peer_.get(), bytes, {}).bytes, bytes.size());
  }

  bool rest_ends_early() {
    const auto start = Clock::now();
    transport_->rest(kVeryLong);
    return Clock::now() - start < kVeryLong / 2;
  }

  // Whether a header came before long.
  bool look_until_moved(transport::Channel& channel) {
    const auto end = Clock::now() + kVeryLong;
    while (!channel.incoming()) {
      if (Clock::now() > end) return false;
      transport_->rest(kVeryLong);
    }
    return true;
  }

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

// Who wakes a thread cannot know whether it rests already.
TEST_F(TcpTransportTest, AWakeBeforeARestEndsThatOneAlone) {
  transport_->wake();
  transport_->wake();
  EXPECT_TRUE(rest_ends_early());
  const auto start = Clock::now();
  transport_->rest(std::chrono::milliseconds(20));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(20));
}

// Method: the peer has sent a message and ended before anybody looks.
TEST_F(TcpTransportTest, APeerThatEndedIsLostAfterAllThatItHadSent) {
  ASSERT_TRUE(transport_->ends_by_itself());
  const Header header{.bytes = 0, .signature = {}};
  peer_sends(std::as_bytes(std::span(&header, 1)));
  peer_.reset();
  auto& channel = transport_->channel(1);
  ASSERT_TRUE(look_until_moved(channel));
  channel.finish_receive();
  EXPECT_THROW(look_until_moved(channel), Error);
}

}  // namespace
}  // namespace rota::transport::tcp

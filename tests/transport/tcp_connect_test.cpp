// Members of a job find each other over TCP; strangers get nowhere.
// Method: real sockets on loopback; each rank is a thread, strangers are bare sockets.
#include "transport/tcp/connect.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "transport/tcp/hello.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;

class TcpConnectTest : public ::testing::Test {
 protected:
  void listen(std::size_t world_size) {
    for (std::size_t rank = 0; rank < world_size; ++rank) {
      listeners_.push_back(os::listen_on_loopback());
      addresses_.push_back(listeners_.back().address);
    }
  }

  ConnectOptions options_of(std::size_t rank) const {
    ConnectOptions options{.rank = rank, .addresses = addresses_, .nonce = {}, .epoch = 4};
    options.nonce.fill(std::byte{42});
    return options;
  }

  std::vector<os::Fd> connect(std::size_t rank, std::chrono::milliseconds patience) {
    return connect_all(options_of(rank), listeners_[rank].socket.get(), Clock::now() + patience);
  }

  // A connection to rank 0 that says `bytes` and nothing more.
  os::Fd stranger(std::span<const std::byte> bytes) {
    os::Fd socket = os::start_connect(addresses_[0]).socket;
    os::PollSet polls;
    polls.add(socket.get(), false, true);
    polls.wait(Clock::now() + std::chrono::seconds(5));
    if (!bytes.empty()) os::send_some(socket.get(), bytes, {});
    return socket;
  }

  std::vector<os::Listener> listeners_;
  std::vector<std::string> addresses_;
};

// Whether the other end closed without having said anything.
bool was_hung_up(const os::Fd& socket) {
  std::array<std::byte, 64> buffer{};
  os::PollSet polls;
  polls.add(socket.get(), true, false);
  polls.wait(Clock::now() + std::chrono::seconds(10));
  const os::Moved moved = os::receive_some(socket.get(), buffer);
  return moved.closed && moved.bytes == 0;
}

TEST_F(TcpConnectTest, EveryPairEndsWithOneConnection) {
  listen(5);
  std::vector<std::vector<os::Fd>> sockets(5);
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    ranks.emplace_back([&, rank] { sockets[rank] = connect(rank, std::chrono::seconds(20)); });
  }
  for (std::thread& rank : ranks) rank.join();
  for (std::size_t rank = 0; rank < 5; ++rank) {
    for (std::size_t peer = 0; peer < 5; ++peer) {
      ASSERT_EQ(static_cast<bool>(sockets[rank][peer]), rank != peer);
      if (rank == peer) continue;
      // Each says its number to each: the connections lead where they should.
      const std::byte number{static_cast<unsigned char>(rank)};
      os::send_some(sockets[rank][peer].get(), std::span(&number, 1), {});
    }
  }
  for (std::size_t rank = 0; rank < 5; ++rank) {
    for (std::size_t peer = 0; peer < 5; ++peer) {
      if (rank == peer) continue;
      std::byte heard{255};
      os::PollSet polls;
      polls.add(sockets[rank][peer].get(), true, false);
      polls.wait(Clock::now() + std::chrono::seconds(5));
      os::receive_some(sockets[rank][peer].get(), std::span(&heard, 1));
      EXPECT_EQ(static_cast<std::size_t>(heard), peer);
    }
  }
}

TEST_F(TcpConnectTest, StrangersAreHungUpOnAndDoNotDisturb) {
  listen(2);
  Hello wrong_nonce{.nonce = {}, .epoch = 4, .from = 1, .to = 0};
  Hello wrong_epoch{.nonce = options_of(0).nonce, .epoch = 3, .from = 1, .to = 0};
  Hello wrong_rank{.nonce = options_of(0).nonce, .epoch = 4, .from = 7, .to = 0};
  Hello wrong_target{.nonce = options_of(0).nonce, .epoch = 4, .from = 1, .to = 1};
  Hello wrong_version{.version = 2, .nonce = options_of(0).nonce, .epoch = 4, .from = 1, .to = 0};
  std::vector<os::Fd> strangers;
  for (const Hello& hello : {wrong_nonce, wrong_epoch, wrong_rank, wrong_target, wrong_version}) {
    strangers.push_back(stranger(std::as_bytes(std::span(&hello, 1))));
  }
  const std::string web = "GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n";
  strangers.push_back(stranger(std::as_bytes(std::span(web))));
  strangers.push_back(stranger({}));  // Says nothing at all.

  std::vector<os::Fd> of_rank_1;
  std::thread rank_1([&] {
    // Late, so that rank 0 meets the strangers first, the silent one included.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    of_rank_1 = connect(1, std::chrono::seconds(20));
  });
  const auto of_rank_0 = connect(0, std::chrono::seconds(20));
  rank_1.join();
  EXPECT_TRUE(of_rank_0[1]);
  EXPECT_TRUE(of_rank_1[0]);
  for (std::size_t i = 0; i < strangers.size(); ++i) {
    EXPECT_TRUE(was_hung_up(strangers[i])) << "stranger " << i;
  }
}

TEST_F(TcpConnectTest, MoreSilentCallersThanItKeepsDoNotDisturb) {
  listen(2);
  std::vector<os::Fd> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(stranger({}));
  std::thread rank_1([&] { EXPECT_TRUE(connect(1, std::chrono::seconds(20))[0]); });
  EXPECT_TRUE(connect(0, std::chrono::seconds(20))[1]);
  rank_1.join();
}

// Method: 99 members call and say who they are before rank 0 looks for the first time, together
// with strangers who called before them.
TEST_F(TcpConnectTest, AWholeWorldMayCallBeforeRankZeroListens) {
  constexpr std::uint32_t kWorldSize = 100;
  listen(1);
  addresses_.resize(kWorldSize);
  std::vector<os::Fd> callers;
  for (int i = 0; i < 50; ++i) callers.push_back(stranger({}));
  for (std::uint32_t rank = 1; rank < kWorldSize; ++rank) {
    const Hello hello{.nonce = options_of(0).nonce, .epoch = 4, .from = rank, .to = 0};
    callers.push_back(stranger(std::as_bytes(std::span(&hello, 1))));
  }
  const auto sockets = connect(0, std::chrono::seconds(20));
  for (std::size_t rank = 1; rank < kWorldSize; ++rank) EXPECT_TRUE(sockets[rank]) << rank;
}

TEST_F(TcpConnectTest, NamesWhoIsAbsentAtTheDeadline) {
  listen(4);
  std::thread rank_2([&] {
    EXPECT_THROW(connect(2, std::chrono::milliseconds(300)), Error);  // 1 and 3 never come.
  });
  try {
    connect(0, std::chrono::milliseconds(300));
    ADD_FAILURE() << "rank 0 met ranks that never came";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_STREQ(error.what(), "rank 0: no connection with rank 1, rank 3 at the deadline");
    EXPECT_EQ(error.blamed_rank(), 1U);
  }
  rank_2.join();
}

TEST_F(TcpConnectTest, SaysWhoRefused) {
  listen(2);
  listeners_[0].socket.reset();
  try {
    connect(1, std::chrono::seconds(5));
    ADD_FAILURE() << "rank 1 connected to a closed port";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    EXPECT_EQ(error.blamed_rank(), 0U);
    EXPECT_NE(std::string(error.what()).find("Connection refused"), std::string::npos);
  }
}

// The broadcast address refuses streams in the call itself, before anything is sent.
TEST_F(TcpConnectTest, SaysWhoCouldNotEvenBeCalled) {
  listen(2);
  addresses_[0] = "255.255.255.255:1";
  try {
    connect(1, std::chrono::seconds(5));
    ADD_FAILURE() << "rank 1 connected to everybody";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPeerLost) << error.what();
    EXPECT_EQ(error.blamed_rank(), 0U);
    EXPECT_NE(std::string(error.what()).find("rank 1: connecting to rank 0 at 255.255.255.255:1"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace rota::transport::tcp

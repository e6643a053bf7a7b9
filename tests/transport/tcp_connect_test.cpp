// Ranks of a job connect to each other over TCP, and reject strangers. Method: real sockets on
// loopback. Each rank is a thread, and strangers are bare sockets.
#include "transport/tcp/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "auth/acceptor.h"
#include "auth/handshake_io.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "testing/error_of.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using ::testing::HasSubstr;

class TcpConnectTest : public ::testing::Test {
 protected:
  void listen(std::size_t world_size) {
    for (std::size_t rank = 0; rank < world_size; ++rank) {
      listeners_.push_back(os::listen_on_loopback());
      addresses_.push_back(listeners_.back().address);
    }
  }

  CallTerms terms() const {
    return {.addresses = addresses_, .key = key_, .encrypts = encrypts_, .epoch = 4};
  }

  std::vector<auth::Stream> connect(std::size_t rank, std::chrono::milliseconds patience) {
    return connect_all(rank, terms(), listeners_[rank].socket.get(), Clock::now() + patience);
  }

  // Connects to the last rank, and sends it `bytes` and nothing more.
  os::Fd stranger(const std::string& bytes) const {
    os::Fd socket = os::start_connect(os::parse_address(addresses_.back())).socket;
    os::PollSet polls;
    polls.add(socket.get(), false, true);
    polls.wait(Clock::now() + std::chrono::seconds(5));
    if (!bytes.empty()) os::send_some(socket.get(), std::as_bytes(std::span(bytes)), {});
    return socket;
  }

  auth::Key key_ = auth::random_key();
  bool encrypts_ = false;
  std::vector<os::Listener> listeners_;
  std::vector<std::string> addresses_;
};

// Returns whether the other end sent only its challenge, which every caller gets, and then closed
// the connection.
bool was_hung_up(const os::Fd& socket) {
  std::array<std::byte, 256> buffer{};
  const auto end = Clock::now() + std::chrono::seconds(10);
  std::size_t heard = 0;
  while (Clock::now() < end && heard < buffer.size()) {
    os::PollSet polls;
    polls.add(socket.get(), true, false);
    polls.wait(end);
    const os::Moved moved = os::receive_some(socket.get(), buffer);
    heard += moved.bytes;
    if (moved.closed) return true;
  }
  return false;
}

// A caller that connects to the last rank and shakes hands with it.
struct Call {
  auth::Stream stream;
  auth::Handshake handshake;

  // Moves the handshake on. Returns whether nothing more will come.
  bool advance() {
    const bool is_open = auth::advance(handshake, stream);
    return !is_open || handshake.state() != auth::Handshake::State::kTalking;
  }
};

// Moves all handshakes on together. One after the other, the last ones could take longer than the
// other side allows, since it has accepted them all.
void advance_to_the_end(std::vector<Call>& calls) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  std::vector<bool> are_over(calls.size());
  while (std::ranges::count(are_over, false) > 0 && Clock::now() < end) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      are_over[i] = are_over[i] || calls[i].advance();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class EveryPair : public TcpConnectTest, public ::testing::WithParamInterface<bool> {
 protected:
  EveryPair() { encrypts_ = GetParam(); }
};

TEST_P(EveryPair, EndsWithOneConnection) {
  listen(5);
  std::vector<std::vector<auth::Stream>> sockets(5);
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    ranks.emplace_back([&, rank] { sockets[rank] = connect(rank, std::chrono::seconds(20)); });
  }
  for (std::thread& rank : ranks) rank.join();
  for (std::size_t rank = 0; rank < 5; ++rank) {
    for (std::size_t peer = 0; peer < 5; ++peer) {
      ASSERT_EQ(static_cast<bool>(sockets[rank][peer]), rank != peer);
      if (rank == peer) continue;
      EXPECT_EQ(sockets[rank][peer].is_encrypted(), encrypts_);
      // Each rank sends its number to each other rank. This shows that the connections lead to the
      // right ranks.
      const std::byte number{static_cast<unsigned char>(rank)};
      sockets[rank][peer].send(std::span(&number, 1), {});
    }
  }
  for (std::size_t rank = 0; rank < 5; ++rank) {
    for (std::size_t peer = 0; peer < 5; ++peer) {
      if (rank == peer) continue;
      std::byte heard{255};
      os::PollSet polls;
      polls.add(sockets[rank][peer].fd(), true, false);
      polls.wait(Clock::now() + std::chrono::seconds(5));
      sockets[rank][peer].receive(std::span(&heard, 1));
      EXPECT_EQ(static_cast<std::size_t>(heard), peer);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TcpConnectTest, EveryPair, ::testing::Bool());

TEST_F(TcpConnectTest, StrangersAreHungUpOnAndDoNotDisturb) {
  using auth::ConnectionKind;
  using auth::Handshake;
  listen(2);
  std::vector<auth::Stream> of_rank_1;
  std::thread rank_1([&] { of_rank_1 = connect(1, std::chrono::seconds(20)); });

  const auth::Identity member{.kind = ConnectionKind::kData, .epoch = 4, .from = 0, .to = 1};
  auth::Identity other_incarnation = member;
  other_incarnation.incarnation = 1;
  auth::Identity other_epoch = member;
  other_epoch.epoch = 3;
  auth::Identity other_rank = member;
  other_rank.from = 7;
  auth::Identity other_target = member;
  other_target.to = 0;
  auth::Identity other_kind = member;
  other_kind.kind = ConnectionKind::kControl;
  std::vector<Call> calls;
  calls.push_back({stranger(""), Handshake::call(auth::random_key(), member)});
  for (const auto& identity :
       {other_incarnation, other_epoch, other_rank, other_target, other_kind}) {
    calls.push_back({stranger(""), Handshake::call(key_, identity)});
  }
  std::vector<os::Fd> strangers;
  strangers.push_back(
      stranger("GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n" + std::string(1000, ' ')));
  strangers.push_back(stranger(""));  // Sends nothing at all.
  advance_to_the_end(calls);
  EXPECT_NE(calls.front().handshake.state(), Handshake::State::kDone);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].handshake.state(), Handshake::State::kRefused) << "call " << i;
  }
  for (std::size_t i = 0; i < strangers.size(); ++i) {
    EXPECT_TRUE(was_hung_up(strangers[i])) << "stranger " << i;
  }

  const auto of_rank_0 = connect(0, std::chrono::seconds(20));
  rank_1.join();
  EXPECT_TRUE(of_rank_0[1]);
  EXPECT_TRUE(of_rank_1[0]);
}

TEST_F(TcpConnectTest, MoreSilentCallersThanItKeepsDoNotDisturb) {
  listen(2);
  std::vector<os::Fd> strangers;
  strangers.reserve(100);
  for (int i = 0; i < 100; ++i) strangers.push_back(stranger(""));
  std::thread rank_1([&] { EXPECT_TRUE(connect(1, std::chrono::seconds(20))[0]); });
  EXPECT_TRUE(connect(0, std::chrono::seconds(20))[1]);
  rank_1.join();
}

// Method: 99 members and some strangers have called before the last rank looks for the first time.
// The strangers called before the members.
TEST_F(TcpConnectTest, AWholeWorldMayCallBeforeSomebodyListens) {
  constexpr std::uint32_t kLast = 99;
  listen(1);
  addresses_.resize(kLast, "127.0.0.1:9");
  addresses_.push_back(listeners_.back().address);
  std::vector<os::Fd> strangers;
  strangers.reserve(50);
  for (int i = 0; i < 50; ++i) strangers.push_back(stranger(""));
  std::vector<Call> calls;
  for (std::uint32_t rank = 0; rank < kLast; ++rank) {
    calls.push_back(
        {stranger(""),
         auth::Handshake::call(
             key_, {.kind = auth::ConnectionKind::kData, .epoch = 4, .from = rank, .to = kLast})});
  }
  std::vector<auth::Stream> sockets;
  std::thread last([&] {
    sockets = connect_all(kLast, terms(), listeners_[0].socket.get(),
                          Clock::now() + std::chrono::seconds(20));
  });
  advance_to_the_end(calls);
  last.join();
  for (std::size_t rank = 0; rank < kLast; ++rank) EXPECT_TRUE(sockets[rank]) << rank;
}

// Rank 2 is there, and ranks 1 and 3 never come. If a busy machine lets ranks 0 and 2 wait for so
// long that they do not meet, both try again with more time.
TEST_F(TcpConnectTest, NamesWhoIsAbsentAtTheDeadline) {
  const std::string expected = "rank 0: no connection with rank 1, rank 3 at the deadline";
  listen(4);
  std::optional<Error> error;
  for (std::chrono::milliseconds patience{300}; patience < std::chrono::seconds(20);
       patience *= 2) {
    std::thread rank_2([&] { EXPECT_THROW(connect(2, patience), Error); });
    error = testing::error_of([&] { connect(0, patience); });
    rank_2.join();
    ASSERT_TRUE(error) << "rank 0 met ranks that never came";
    if (error->what() == expected) break;
  }
  EXPECT_EQ(error->what(), expected);
  EXPECT_EQ(error->code(), ErrorCode::kTimeout);
  EXPECT_EQ(error->blamed_rank(), 1U);
}

// Returns what rank 0 reports about rank 1, which it cannot reach.
std::string complaint_of(const std::function<void()>& connect) {
  try {
    connect();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_EQ(error.blamed_rank(), 1U);
    return error.what();
  }
  return "it connected";
}

// A socket keeps rank 1's port, and does not listen there: no other program can listen there
// either.
TEST_F(TcpConnectTest, SaysWhatWasInTheWay) {
  listen(1);
  const os::Address any_port = os::parse_address("127.0.0.1:0");
  const os::Fd keeper(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(keeper.get(), any_port.get(), any_port.bytes()), 0);
  addresses_.push_back(os::local_address(keeper.get()).to_text());
  EXPECT_THAT(complaint_of([&] { connect(0, std::chrono::milliseconds(300)); }),
              HasSubstr("rank 1 at " + addresses_[1] + ": Connection refused"));
  // For the broadcast address, connect() itself fails, before anything is sent.
  addresses_[1] = "255.255.255.255:1";
  EXPECT_THAT(complaint_of([&] { connect(0, std::chrono::milliseconds(300)); }),
              HasSubstr("rank 1 at 255.255.255.255:1: "));
}

// Rank 1 holds another key, and is gone at the deadline.
TEST_F(TcpConnectTest, SaysWhatAPeerHasAnsweredThatIsGone) {
  listen(2);
  std::thread rank_1([&] {
    auth::Acceptor other({.key = auth::random_key(), .listener = listeners_[1].socket.get()},
                         [](const auth::Identity&) { return auth::Admission(); });
    const auto end = Clock::now() + std::chrono::seconds(10);
    while (other.last_complaint().empty() && Clock::now() < end) {
      EXPECT_TRUE(other.receive(Clock::now()).empty());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    listeners_[1].socket.reset();
  });
  EXPECT_THAT(complaint_of([&] { connect(0, std::chrono::seconds(2)); }),
              HasSubstr("rank 1 at " + addresses_[1] + ": it holds another key"));
  rank_1.join();
}

// The answer to rank 0's first call came too late for rank 0, which has hung up and calls again.
TEST_F(TcpConnectTest, TakesTheNewCallOfARankThatHasHungUp) {
  listen(3);
  std::vector<auth::Stream> sockets;
  std::thread rank_2([&] { sockets = connect(2, std::chrono::seconds(20)); });
  const auto call = [&](std::uint32_t rank) {
    std::vector<Call> calls;
    calls.push_back(
        {stranger(""),
         auth::Handshake::call(
             key_, {.kind = auth::ConnectionKind::kData, .epoch = 4, .from = rank, .to = 2})});
    advance_to_the_end(calls);
    EXPECT_EQ(calls.front().handshake.state(), auth::Handshake::State::kDone) << "rank " << rank;
    return std::move(calls.front().stream);
  };
  call(0);
  const auth::Stream of_rank_0 = call(0);
  const auth::Stream of_rank_1 = call(1);
  rank_2.join();
  EXPECT_FALSE(os::has_hung_up(sockets[0].fd()));
}

// Method: the first connections to rank 1 are accepted and closed. A rank also closes connections
// in this way if too many callers connect to it.
TEST_F(TcpConnectTest, CallsAgainWhereItIsHungUpOn) {
  listen(2);
  std::vector<auth::Stream> of_rank_0;
  std::thread rank_0([&] { of_rank_0 = connect(0, std::chrono::seconds(20)); });
  for (int i = 0; i < 3; ++i) {
    os::PollSet polls;
    polls.add(listeners_[1].socket.get(), true, false);
    polls.wait(Clock::now() + std::chrono::seconds(10));
    EXPECT_TRUE(os::accept_connection(listeners_[1].socket.get()).socket);
  }
  EXPECT_TRUE(connect(1, std::chrono::seconds(20))[0]);
  rank_0.join();
  EXPECT_TRUE(of_rank_0[1]);
}

}  // namespace
}  // namespace rota::transport::tcp

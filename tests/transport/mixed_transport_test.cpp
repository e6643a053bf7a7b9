// Ranks 0 and 1 share memory, and rank 2 is elsewhere. Each pair of ranks uses the right transport,
// and both transports wake a rank that sleeps.
#include "transport/mixed_transport.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "testing/mixed_world.h"

namespace rota::transport {
namespace {

using base::Clock;
using std::chrono::milliseconds;
using testing::kVeryLong;

constexpr Header kHeader{.bytes = 4096, .signature = {1, 2, 3, 4}};

class MixedTransportTest : public ::testing::Test {
 protected:
  // Returns whether a message from rank 1 arrives at `to`. The payload is in rank 1's arena.
  bool passes(std::size_t to) {
    const Block block = ranks_[1]->allocate(kHeader.bytes);
    std::memset(block.bytes().data(), 42, block.bytes().size());
    Channel& out = ranks_[1]->channel(to);
    Channel& in = ranks_[to]->channel(1);
    std::vector<std::byte> received(kHeader.bytes);
    std::size_t done = 0;
    out.start_send(kHeader, block.bytes());
    for (const auto end = Clock::now() + kVeryLong; Clock::now() < end;) {
      const bool is_sent = out.progress_send() == Progress::kDone;
      if (is_sent && done == received.size()) return received.back() == std::byte{42};
      if (done == received.size() || !in.incoming()) continue;
      done += in.receive(std::span(received).subspan(done));
      if (done == received.size()) in.finish_receive();
    }
    return false;
  }

  base::Duration rest(std::size_t rank, base::Duration at_most = kVeryLong) {
    const auto start = Clock::now();
    ranks_[rank]->sleep(at_most);
    return Clock::now() - start;
  }

  // Returns whether the rank sleeps until `news` runs, and no longer.
  template <class News>
  bool is_woken(std::size_t rank, News news) {
    const std::jthread other([&] {
      std::this_thread::sleep_for(milliseconds(500));
      news();
    });
    const auto rested = rest(rank);
    return rested >= milliseconds(400) && rested < kVeryLong / 2;
  }

  // Sleeps until `moves` returns true. Returns false if nothing woke the rank.
  template <class Moves>
  bool moves_on(std::size_t rank, Moves moves) {
    while (!moves()) {
      if (rest(rank) >= kVeryLong / 2) return false;
    }
    return true;
  }

  std::vector<std::unique_ptr<Transport>> ranks_ = testing::mixed_transports({0, 0, 1});
};

TEST_F(MixedTransportTest, MovesNothingBetweenLocalPeersThatMayBeReadWhereItLies) {
  EXPECT_TRUE(passes(0));
  EXPECT_EQ(ranks_[1]->sent_bytes(), kHeader.bytes);
  EXPECT_EQ(ranks_[0]->staged_bytes() + ranks_[1]->staged_bytes(), 0U);
  EXPECT_TRUE(passes(2));
  EXPECT_EQ(ranks_[1]->sent_bytes(), 2 * kHeader.bytes);
}

TEST_F(MixedTransportTest, SharesNoMemoryWhereNotAllShareIt) {
  for (const auto& rank : ranks_) EXPECT_EQ(rank->shared_memory(), nullptr);
}

TEST_F(MixedTransportTest, IsWokenByALocalPeer) {
  EXPECT_TRUE(is_woken(0, [&] { ranks_[1]->channel(0).start_send({.bytes = 0}, {}); }));
}

TEST_F(MixedTransportTest, IsWokenByALocalPeerThatTakesWhatItWasSent) {
  ranks_[0]->channel(1).start_send({.bytes = 0}, {});
  ASSERT_EQ(ranks_[0]->channel(1).progress_send(), Progress::kNone);
  EXPECT_TRUE(is_woken(0, [&] {
    Channel& in = ranks_[1]->channel(0);
    if (in.incoming()) in.finish_receive();
  }));
  EXPECT_EQ(ranks_[0]->channel(1).progress_send(), Progress::kDone);
}

TEST_F(MixedTransportTest, DoesNotSleepOverARingAndSleepsAfterIt) {
  ranks_[1]->channel(0).start_send({.bytes = 0}, {});
  EXPECT_LT(rest(0), kVeryLong / 2);
  EXPECT_GE(rest(0, milliseconds(200)), milliseconds(200));
}

// Method: each rank sleeps as soon as it has nothing to do. The other rank may set the doorbell at
// this very moment.
TEST_F(MixedTransportTest, LosesNoRingBetweenTwoThatFallAsleep) {
  constexpr int kRounds = 10'000;
  const auto play = [this](std::size_t rank, bool begins) {
    Channel& channel = ranks_[rank]->channel(1 - rank);
    for (int round = 0; round < kRounds; ++round) {
      if (begins) channel.start_send({.bytes = 0}, {});
      if (!moves_on(rank, [&] { return channel.incoming() != nullptr; })) return false;
      channel.finish_receive();
      if (!begins) channel.start_send({.bytes = 0}, {});
    }
    return true;
  };
  bool other_played = false;
  std::jthread other([&] { other_played = play(1, false); });
  EXPECT_TRUE(play(0, true));
  other.join();
  EXPECT_TRUE(other_played);
}

// The message is larger than the staging ring, so each rank waits for the other again and again.
TEST_F(MixedTransportTest, WakesWhoWaitsForAPieceOrForRoom) {
  const std::vector<std::byte> sent(std::size_t{4} << 20, std::byte{42});
  std::vector<std::byte> received(sent.size());
  bool has_come = false;
  std::jthread other([&] {
    Channel& in = ranks_[0]->channel(1);
    std::size_t done = 0;
    has_come = moves_on(0, [&] {
      if (in.incoming()) done += in.receive(std::span(received).subspan(done));
      return done == received.size();
    });
    if (has_come) in.finish_receive();
  });
  Channel& out = ranks_[1]->channel(0);
  out.start_send({.bytes = sent.size()}, sent);
  EXPECT_TRUE(moves_on(1, [&] { return out.progress_send() == Progress::kDone; }));
  other.join();
  EXPECT_TRUE(has_come);
  EXPECT_EQ(received, sent);
}

TEST_F(MixedTransportTest, IsWokenByARankOfAnotherHost) {
  ASSERT_EQ(ranks_[0]->channel(2).incoming(), nullptr);
  EXPECT_TRUE(is_woken(0, [&] {
    Channel& out = ranks_[2]->channel(0);
    out.start_send({.bytes = 0}, {});
    EXPECT_EQ(out.progress_send(), Progress::kDone);
  }));
  EXPECT_NE(ranks_[0]->channel(2).incoming(), nullptr);
}

TEST_F(MixedTransportTest, IsWokenByAnotherThread) {
  EXPECT_TRUE(is_woken(1, [&] { ranks_[1]->wake(); }));
}

TEST_F(MixedTransportTest, TellsLocalPeersWhyItFailsAndHangsUpOnOthers) {
  const Cause cause{.rank = 1, .code = ErrorCode::kTimeout, .blamed = 2, .text = "rank 2 is late"};
  EXPECT_TRUE(is_woken(0, [&] { ranks_[1]->abort(cause); }));
  EXPECT_TRUE(ranks_[0]->broken());
  const auto heard = ranks_[0]->aborted();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->rank, 1U);
  EXPECT_EQ(heard->blamed, 2U);
  EXPECT_EQ(heard->text, cause.text);
  EXPECT_FALSE(ranks_[2]->broken());
  EXPECT_THROW(
      {
        for (const auto end = Clock::now() + kVeryLong; Clock::now() < end;) {
          ranks_[2]->channel(1).incoming();
        }
      },
      Error);
}

// A connection that has ended stays readable for ever.
TEST_F(MixedTransportTest, RestsOnAfterALocalPeerIsGone) {
  EXPECT_FALSE(ranks_[0]->ends_by_itself(1));
  EXPECT_TRUE(ranks_[0]->ends_by_itself(2));
  ranks_[1].reset();
  rest(0);
  EXPECT_GE(rest(0, milliseconds(200)), milliseconds(200));
}

}  // namespace
}  // namespace rota::transport

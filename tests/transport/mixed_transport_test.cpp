// Ranks 0 and 1 share memory, rank 2 is elsewhere: each pair has its own way, and who sleeps is
// woken by either.
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
using std::chrono::seconds;

// What waits as long as this was not woken; what ends within half of it was.
constexpr seconds kVeryLong{10};

constexpr Header kHeader{.bytes = 4096, .signature = {1, 2, 3, 4}};

class MixedTransportTest : public ::testing::Test {
 protected:
  // Whether what rank 1 sends to `to` arrives there; it lies in rank 1's arena.
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

  bool rests_long(std::size_t rank) {
    const auto start = Clock::now();
    ranks_[rank]->rest(kVeryLong);
    return Clock::now() - start >= kVeryLong / 2;
  }

  // Sleeps, and is rung only then, as far as half a second tells.
  template <class News>
  bool is_woken(std::size_t rank, News news) {
    const std::jthread other([&] {
      std::this_thread::sleep_for(milliseconds(500));
      news();
    });
    return !rests_long(rank);
  }

  std::vector<std::unique_ptr<Transport>> ranks_ = testing::mixed_transports({0, 0, 1});
};

TEST_F(MixedTransportTest, MovesNothingBetweenMatesThatMayBeReadWhereItLies) {
  EXPECT_TRUE(passes(0));
  EXPECT_EQ(ranks_[1]->sent_bytes(), kHeader.bytes);
  EXPECT_EQ(ranks_[0]->staged_bytes() + ranks_[1]->staged_bytes(), 0U);
  EXPECT_TRUE(passes(2));
  EXPECT_EQ(ranks_[1]->sent_bytes(), 2 * kHeader.bytes);
}

TEST_F(MixedTransportTest, HasNoBoardWhereNotAllShareMemory) {
  for (const auto& rank : ranks_) EXPECT_EQ(rank->board(), nullptr);
}

TEST_F(MixedTransportTest, IsWokenByAMate) {
  EXPECT_TRUE(is_woken(0, [&] { ranks_[1]->channel(0).start_send({.bytes = 0}, {}); }));
}

TEST_F(MixedTransportTest, IsWokenByAMateThatTakesWhatItWasSent) {
  ranks_[0]->channel(1).start_send({.bytes = 0}, {});
  ASSERT_EQ(ranks_[0]->channel(1).progress_send(), Progress::kNone);
  EXPECT_TRUE(is_woken(0, [&] {
    Channel& in = ranks_[1]->channel(0);
    if (in.incoming()) in.finish_receive();
  }));
  EXPECT_EQ(ranks_[0]->channel(1).progress_send(), Progress::kDone);
}

TEST_F(MixedTransportTest, DoesNotSleepOverARing) {
  ranks_[1]->channel(0).start_send({.bytes = 0}, {});
  EXPECT_FALSE(rests_long(0));
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

TEST_F(MixedTransportTest, TellsMatesWhyItFailsAndHangsUpOnOthers) {
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

// A connection that has ended is readable for ever.
TEST_F(MixedTransportTest, RestsOnAfterAMateIsGone) {
  EXPECT_FALSE(ranks_[0]->ends_by_itself(1));
  EXPECT_TRUE(ranks_[0]->ends_by_itself(2));
  ranks_[1].reset();
  ranks_[0]->rest(kVeryLong);
  const auto start = Clock::now();
  ranks_[0]->rest(milliseconds(200));
  EXPECT_GE(Clock::now() - start, milliseconds(200));
}

}  // namespace
}  // namespace rota::transport

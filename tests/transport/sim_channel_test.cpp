// A simulated channel keeps what lib/transport/channel.h promises when the peer is lost: data that
// has arrived comes first. Method: two ranks over a network without delays.
#include "transport/sim/channel.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>

#include "testing/error_of.h"
#include "transport/sim/network.h"

namespace rota::transport {
namespace {

using testing::error_of;

constexpr std::size_t kWordBytes = 10;
using Word = std::array<std::byte, kWordBytes>;

class SimChannelTest : public ::testing::Test {
 protected:
  // Lets rank 1 send a word, and lose its process. Rank 0 has begun to send a word of its own.
  SimChannelTest() {
    ours_.start_send({.bytes = kWordBytes}, word_);
    theirs_.start_send({.bytes = kWordBytes}, word_);
    EXPECT_EQ(theirs_.progress_send(), Progress::kDone);
    network_.lose(1);
  }

  std::optional<Error> failure_of_send() {
    return error_of([&] { EXPECT_EQ(ours_.progress_send(), Progress::kNone); });
  }

  sim::Network network_{{.world_size = 2}};
  Channel& ours_ = network_.channel(0, 1);
  Channel& theirs_ = network_.channel(1, 0);
  const Word word_{std::byte{7}};
};

TEST_F(SimChannelTest, HandsOutWhatHasArrivedBeforeASendFails) {
  EXPECT_FALSE(failure_of_send());
  ASSERT_NE(ours_.incoming(), nullptr);
  EXPECT_FALSE(failure_of_send()) << "the payload is unread";
  Word heard{};
  EXPECT_EQ(ours_.receive(heard), kWordBytes);
  EXPECT_EQ(heard, word_);
  ours_.finish_receive();
  const auto failure = failure_of_send();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code(), ErrorCode::kPeerLost);
  EXPECT_EQ(failure->blamed_rank(), 1U);
}

TEST_F(SimChannelTest, FailsASendAfterAWhileIfNobodyReads) {
  std::optional<Error> failure;
  int ticks = 0;
  for (; ticks < 1000 && !failure; ++ticks) {
    failure = failure_of_send();
    network_.advance();
  }
  ASSERT_TRUE(failure) << "the send waits for ever";
  EXPECT_EQ(failure->code(), ErrorCode::kPeerLost);
  EXPECT_GT(ticks, 1);
}

}  // namespace
}  // namespace rota::transport

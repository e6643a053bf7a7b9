// If ranks wait in the same operation but describe it differently, the coordinator reports this to
// all ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/message_socket.h"
#include "rendezvous/coordinator_world.h"

namespace rota::rendezvous {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class MismatchTest : public ::testing::Test {
 protected:
  MismatchTest() : world_(4) { world_.join_all(4); }

  void wait_in(std::size_t rank, const std::string& key, const std::string& text) {
    world_.say(rank, {.type = MessageType::kWaiting, .blamed = 0, .key = key, .text = text});
  }

  CoordinatorWorld world_;
};

TEST_F(MismatchTest, IsToldToAllAtTheFirstDifference) {
  wait_in(3, "0#17", "all_reduce of 5 float");
  EXPECT_THAT(world_.sent(), IsEmpty());
  wait_in(1, "0#17", "barrier");
  const auto sent = world_.sent();
  ASSERT_THAT(sent, SizeIs(4));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(sent[rank].rank, rank);
    EXPECT_EQ(sent[rank].message.type, MessageType::kAborted);
    EXPECT_EQ(sent[rank].message.error, ErrorCode::kMismatch);
    EXPECT_EQ(sent[rank].message.blamed, 3U);
    EXPECT_EQ(
        sent[rank].message.text,
        "rank 1 is in barrier, but rank 3 is in all_reduce of 5 float: every rank must make the "
        "same calls in the same order");
  }
}

TEST_F(MismatchTest, IsLaidAtWhoDiffersFromTheLowestRank) {
  wait_in(1, "0#17", "barrier");
  wait_in(3, "0#17", "barrier");
  wait_in(2, "0#17", "broadcast");
  EXPECT_EQ(world_.sent_to(0).at(0).blamed, 2U);
}

// The lowest rank reports last and differs from all others.
TEST_F(MismatchTest, IsLaidAtTheLaterOfSeveral) {
  wait_in(3, "0#17", "barrier");
  wait_in(2, "0#17", "barrier");
  wait_in(0, "0#17", "broadcast");
  EXPECT_EQ(world_.sent_to(1).at(0).blamed, 2U);
}

TEST_F(MismatchTest, IsNoneBetweenEqualOperations) {
  for (std::size_t rank = 0; rank < 4; ++rank) wait_in(rank, "0#17", "barrier");
  wait_in(2, "0#17", "barrier");  // Rank 2 now waits for another rank.
  EXPECT_THAT(world_.sent(), IsEmpty());
}

// Ranks may be in different operations: a rank may be ahead, or in another communicator.
TEST_F(MismatchTest, IsNoneBetweenDifferentKeys) {
  wait_in(0, "0#17", "barrier");
  wait_in(1, "0#18", "broadcast");
  wait_in(2, "1#17", "all_gather");
  wait_in(3, "", "all_reduce");
  wait_in(0, "", "barrier");
  EXPECT_THAT(world_.sent(), IsEmpty());
}

TEST_F(MismatchTest, IsNoneWithWhoHasGoneOnOrGone) {
  wait_in(0, "0#17", "barrier");
  world_.say(0, {.type = MessageType::kResumed});
  wait_in(1, "0#17", "broadcast");
  wait_in(1, "0#18", "broadcast");
  wait_in(2, "0#17", "all_gather");
  world_.coordinator.on_departure(2, "exited with code 0");
  world_.sent();
  wait_in(3, "0#17", "barrier");
  EXPECT_THAT(world_.sent(), IsEmpty());
}

TEST_F(MismatchTest, AnswersWhatIsAskedForAfterwards) {
  world_.barrier(2, 7, "b");
  wait_in(0, "0#17", "barrier");
  wait_in(1, "0#17", "broadcast");
  wait_in(3, "0#17", "all_gather");  // Rank 3 has been told already.
  const auto sent = world_.sent_to(2);
  ASSERT_THAT(sent, SizeIs(1));
  world_.get(2, 8, "k");
  const auto later = world_.sent_to(2);
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].type, MessageType::kAborted);
  EXPECT_EQ(later[0].id, 8U);
  EXPECT_EQ(later[0].text, sent[0].text);
}

TEST_F(MismatchTest, IsSaidInWholeCharacters) {
  const std::string whole(1023, 'a');
  wait_in(0, "0#17", whole + "é");
  wait_in(1, "0#17", "barrier");
  const auto sent = world_.sent_to(2);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].text, StartsWith("rank 0 is in " + whole + ", but rank 1 is in barrier"));
}

// A rank may send any string that fits in a message. The report about it has to fit as well.
TEST_F(MismatchTest, IsSaidInAMessageThatCanBeSent) {
  wait_in(0, "0#17", std::string(65'000, 'a'));
  wait_in(1, "0#17", std::string(65'000, 'b'));
  const auto sent = world_.sent_to(2);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_LE(encode(sent[0]).size(), os::kMaxMessageBytes);
}

TEST_F(MismatchTest, OfLongKeysIsNoReasonToSayTooMuch) {
  world_.get(0, 1, std::string(65'400, 'k'), 1);
  world_.pass(1);
  const auto sent = world_.sent_to(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_LE(encode(sent[0]).size(), os::kMaxMessageBytes);
}

}  // namespace
}  // namespace rota::rendezvous

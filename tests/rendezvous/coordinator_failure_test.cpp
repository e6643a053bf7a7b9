// Tests what the coordinator tells the other ranks when a rank fails, leaves, ends or sends
// nonsense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "rendezvous/coordinator_world.h"

namespace rota::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Message kOwnFailure{
    .type = MessageType::kAbort, .error = ErrorCode::kNotFinite, .text = "the loss is NaN"};

Message departed(std::uint32_t rank, const std::string& how) {
  return {.type = MessageType::kDeparted, .blamed = rank, .text = how};
}

TEST(Coordinator, TellsAllOthersTheFirstCauseOfAnAbort) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.say(1, kOwnFailure);
  const auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].rank, 0U);
  EXPECT_EQ(sent[1].rank, 2U);
  EXPECT_EQ(sent[0].message.type, MessageType::kAborted);
  EXPECT_EQ(sent[0].message.error, ErrorCode::kNotFinite);
  EXPECT_EQ(sent[0].message.blamed, 1U);
  EXPECT_EQ(sent[0].message.text, "the loss is NaN");
  world.say(2, {.type = MessageType::kAbort, .error = ErrorCode::kAborted, .text = "so am I"});
  EXPECT_THAT(world.sent(), IsEmpty());
}

TEST(Coordinator, KeepsWhomAnAbortBlames) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.say(1, {.type = MessageType::kAbort,
                .error = ErrorCode::kTimeout,
                .blamed = 2,
                .text = "rank 2 is late"});
  EXPECT_EQ(world.sent_to(0).at(0).blamed, 2U);
}

Message waiting_for(std::uint32_t rank) { return {.type = MessageType::kWaiting, .blamed = rank}; }

Message timed_out(std::uint32_t blamed) {
  return {.type = MessageType::kAbort,
          .error = ErrorCode::kTimeout,
          .blamed = blamed,
          .text = "timed out after 2 s"};
}

// Method: rank 0's deadline passes first. Rank 0 waits for rank 1, and rank 1 waits for rank 2.
TEST(Coordinator, BlamesATimeoutOnTheRankThatWaitsForNobody) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.say(0, waiting_for(1));
  world.say(1, waiting_for(2));
  world.say(0, timed_out(1));
  const auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(3));  // Rank 0 is told too: about rank 2.
  for (const Outgoing& outgoing : sent) {
    EXPECT_EQ(outgoing.message.error, ErrorCode::kTimeout);
    EXPECT_EQ(outgoing.message.blamed, 2U);
    EXPECT_THAT(outgoing.message.text, HasSubstr("timed out after 2 s; rank 1"));
    EXPECT_THAT(outgoing.message.text, HasSubstr("waits for rank 2"));
  }
}

TEST(Coordinator, LeavesATimeoutAsItIsWhereRanksWaitInACircle) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.say(1, waiting_for(2));
  world.say(2, waiting_for(1));
  world.say(0, timed_out(1));
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].blamed, 1U);
  EXPECT_EQ(sent[0].text, "timed out after 2 s");
}

// Method: ranks 0 and 1 wait in an operation of a library, which does not say for whom. Rank 2 has
// left. The second world has one more rank, which is busy with something else.
TEST(Coordinator, BlamesARankThatLeftWhereAllOthersWaitInOneOperation) {
  for (const std::size_t world_size : {3U, 4U}) {
    CoordinatorWorld world(world_size);
    world.join_all(world_size);
    world.say(2, {.type = MessageType::kLeave});
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Message waiting = waiting_for(1 - rank);
      waiting.key = "world#1";
      waiting.text = "a barrier";
      world.say(rank, waiting);
    }
    world.say(0, timed_out(1));
    const auto sent = world.sent_to(1);
    ASSERT_FALSE(sent.empty());
    EXPECT_EQ(sent.back().blamed, world_size == 3 ? 2U : 1U);
    EXPECT_EQ(sent.back().text.find("; rank 2 () left") != std::string::npos, world_size == 3);
  }
}

TEST(Coordinator, ForgetsAWaitThatIsOver) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.say(1, waiting_for(2));
  world.say(1, {.type = MessageType::kResumed});
  world.say(0, timed_out(1));
  EXPECT_EQ(world.sent_to(0).at(0).blamed, 1U);
}

TEST(Coordinator, AnswersEverythingWithTheFirstCauseAfterAnAbort) {
  CoordinatorWorld world(3);
  world.say(0, {.type = MessageType::kJoin});
  world.barrier(0, 1, "b");
  world.sent();
  world.say(1, kOwnFailure);
  EXPECT_THAT(world.sent_to(0), ElementsAre(Message{.type = MessageType::kAborted,
                                                    .error = ErrorCode::kNotFinite,
                                                    .blamed = 1,
                                                    .text = "the loss is NaN"}));
  world.say(2, {.type = MessageType::kJoin, .id = 6});
  world.get(0, 7, "k");
  world.barrier(0, 8, "b");
  const auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(3));
  EXPECT_EQ(sent[0].rank, 2U);
  EXPECT_FALSE(sent[0].with_descriptors);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].message.type, MessageType::kAborted);
    EXPECT_EQ(sent[i].message.id, 6 + i);
    EXPECT_EQ(sent[i].message.text, "the loss is NaN");
  }
  EXPECT_FALSE(world.coordinator.next_deadline());
}

TEST(Coordinator, TellsWhoWaitsForItThatARankHasLeft) {
  CoordinatorWorld world(4);
  world.join_all(4);
  world.say(3, waiting_for(1));
  world.say(1, {.type = MessageType::kLeave});
  auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].rank, 3U);
  EXPECT_EQ(sent[0].message, departed(1, "left"));
  world.say(2, waiting_for(1));  // A rank that begins to wait later is told immediately.
  EXPECT_THAT(world.sent_to(2), ElementsAre(departed(1, "left")));
  world.coordinator.on_departure(1, "exited with code 0");  // Nothing new.
  world.say(0, waiting_for(1));
  EXPECT_THAT(world.sent_to(0), ElementsAre(departed(1, "left")));
}

TEST(Coordinator, TellsAllWhoWasTheFirstToEndWithoutHavingLeft) {
  CoordinatorWorld world(4);
  world.join_all(4);
  world.coordinator.on_departure(2, "was killed by SIGKILL");
  auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(3));
  EXPECT_EQ(sent[0].rank, 0U);
  EXPECT_EQ(sent[2].rank, 3U);
  EXPECT_EQ(sent[2].message, departed(2, "was killed by SIGKILL"));
  world.say(3, waiting_for(0));
  world.coordinator.on_departure(0, "was killed by SIGKILL");
  sent = world.sent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].rank, 3U);
}

// A launcher also serves the largest world, so the cost of joins, barriers and departures must grow
// about linearly with the number of ranks.
TEST(Coordinator, SaysLittleWhereAllOfManyRanksMeetAndLeave) {
  constexpr std::size_t kRanks = kMaxWorldSize;
  CoordinatorWorld world(kRanks);
  for (std::size_t rank = 0; rank < kRanks; ++rank) world.barrier(rank, 1, "b");
  EXPECT_THAT(world.sent(), SizeIs(kRanks));
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    world.say(rank, {.type = MessageType::kLeave});
    world.coordinator.on_departure(rank, "exited with code 0");
  }
  EXPECT_THAT(world.sent(), IsEmpty());
}

TEST(Coordinator, TellsALateJoinerWhoHasGoneAlready) {
  CoordinatorWorld world(3);
  world.coordinator.on_departure(2, "exited with code 0");
  EXPECT_THAT(world.sent(), IsEmpty());  // No rank has joined.
  world.say(0, {.type = MessageType::kJoin});
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].type, MessageType::kWelcome);
  EXPECT_EQ(sent[1], departed(2, "exited with code 0"));
}

TEST(Coordinator, EndsABarrierThatCanNeverBeCompleted) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.barrier(0, 1, "b");
  world.sent();
  world.coordinator.on_departure(2, "exited with code 0");
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].type, MessageType::kDeparted);
  EXPECT_EQ(sent[1].type, MessageType::kReply);
  EXPECT_EQ(sent[1].id, 1U);
  EXPECT_EQ(sent[1].error, ErrorCode::kPeerLost);
  EXPECT_EQ(sent[1].blamed, 2U);
  EXPECT_EQ(sent[1].text, "barrier \"b\" cannot be completed: rank 2 exited with code 0");
  world.barrier(1, 2, "b");  // A later barrier cannot complete either.
  const auto later = world.sent_to(1);
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].error, ErrorCode::kPeerLost);
}

TEST(Coordinator, ForgetsTheArrivalOfARankThatEnds) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.barrier(0, 1, "b");
  world.coordinator.on_departure(0, "was killed by SIGSEGV");
  world.sent();
  world.barrier(1, 2, "b");
  EXPECT_EQ(world.sent_to(1).at(0).error, ErrorCode::kPeerLost);
}

TEST(Coordinator, GoesOnWaitingForAKeyThatOthersMayStillPut) {
  CoordinatorWorld world(4);
  world.join_all(4);
  world.get(0, 1, "k", 2);
  world.coordinator.on_departure(3, "exited with code 0");
  EXPECT_THAT(world.sent_to(0), ElementsAre(departed(3, "exited with code 0")));
  world.pass(2);
  EXPECT_EQ(world.sent_to(0).at(0).error, ErrorCode::kTimeout);
}

TEST(Coordinator, EndsAGetWhenNobodyIsLeftToPutTheKey) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.get(0, 1, "k");
  world.coordinator.on_departure(1, "exited with code 0");
  EXPECT_THAT(world.sent_to(0), SizeIs(1));
  world.coordinator.on_departure(2, "exited with code 3");
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].error, ErrorCode::kPeerLost);
  EXPECT_EQ(sent[0].blamed, 1U);
}

TEST(Coordinator, EndsAGetFromARankThatHasGone) {
  CoordinatorWorld world(3);
  world.join_all(3);
  const Message get{
      .type = MessageType::kGet, .id = 4, .blamed = 2, .timeout = seconds(3), .key = "k"};
  world.say(0, get);
  world.coordinator.on_departure(2, "exited with code 0");
  world.say(1, get);
  std::size_t failed = 0;
  for (const Outgoing& outgoing : world.sent()) {
    if (outgoing.message.error == ErrorCode::kPeerLost) ++failed;
  }
  EXPECT_EQ(failed, 2U);
}

TEST(Coordinator, ReadsWhatARankMaySay) {
  const Message waiting{.type = MessageType::kWaiting, .blamed = 1};
  EXPECT_EQ(read_from_rank(0, 2, encode(waiting)), waiting);
}

// The coordinator treats each of these messages as a failure of the rank that sent it.
TEST(Coordinator, TakesNonsenseForAFailureOfItsSender) {
  const Message bad[] = {
      {.type = MessageType::kWelcome},                // Only the launcher sends it.
      {.type = MessageType::kDeparted, .blamed = 0},  // Only the launcher sends it.
      {.type = MessageType::kWaiting},                // Names no rank.
      {.type = MessageType::kWaiting, .blamed = 2},   // There is no such rank.
      {.type = MessageType::kAbort, .text = "why?"},  // Without a code.
      {.type = MessageType::kAbort, .error = ErrorCode::kTimeout, .blamed = 99},
  };
  for (const Message& message : bad) {
    const Message read = read_from_rank(1, 2, encode(message));
    EXPECT_EQ(read.type, MessageType::kAbort);
    EXPECT_EQ(read.error, ErrorCode::kBadData);
    EXPECT_FALSE(read.blamed);
    EXPECT_THAT(read.text, HasSubstr("rank 1 sent"));
  }
}

// Method: the coordinator decodes and handles random bytes, and valid messages with random damage.
// The fixed seed makes a failure repeatable.
TEST(Coordinator, SurvivesWhateverBytesComeIn) {
  std::mt19937 random(20240517);
  CoordinatorWorld world(3);
  world.join_all(3);
  const std::vector<std::byte> valid = encode(
      {.type = MessageType::kGet, .id = 7, .timeout = seconds(1), .key = "some key", .text = "t"});
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<std::byte> bytes = valid;
    if (trial % 3 == 0) bytes.resize(random() % 64);
    for (int i = 0; i < 3 && !bytes.empty(); ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random() & 0xff);
    }
    if (trial % 5 == 0) bytes.resize(random() % (bytes.size() + 1));
    const std::size_t rank = trial % 3;
    const Message message = read_from_rank(rank, 3, bytes);
    EXPECT_LE(message.type, MessageType::kLeave);
    world.say(rank, message);
    world.pass(0);
    world.sent();
  }
}

}  // namespace
}  // namespace rota::rendezvous

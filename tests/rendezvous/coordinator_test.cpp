// Tests what the coordinator answers if no rank fails, and if a rank is only late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/message_socket.h"
#include "rendezvous/coordinator_world.h"

namespace rota::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Coordinator, WelcomesEachRankWithItsOwnRankAndTheDescriptors) {
  CoordinatorWorld world(3);
  for (const std::size_t rank : {2U, 0U, 1U}) {
    world.say(rank, {.type = MessageType::kJoin, .id = 5});
    const auto sent = world.sent();
    ASSERT_THAT(sent, SizeIs(1));
    EXPECT_EQ(sent[0].rank, rank);
    EXPECT_TRUE(sent[0].with_descriptors);
    EXPECT_EQ(sent[0].message.type, MessageType::kWelcome);
    const auto terms = decode_job(sent[0].message.text);
    ASSERT_TRUE(terms);
    EXPECT_EQ(terms->job.rank, rank);
    EXPECT_EQ(terms->job.deadline, seconds(7));
    EXPECT_EQ(terms->table, mark_of(world.coordinator.table_text()));
    EXPECT_TRUE(world.coordinator.has_joined(rank));
  }
  const auto places = decode_table(world.coordinator.table_text());
  ASSERT_TRUE(places);
  EXPECT_EQ(places->table.rows.size(), 3U);
}

// If no descriptors travel, the coordinator sends the table itself to each rank that has another
// table.
TEST(Coordinator, SendsTheTableToWhoHasAnotherOneWhereItSendsNone) {
  Job job = job_of(2);
  job.hands_descriptors = false;
  job.table.rows[0].host = std::string(100'000, 'x');
  Coordinator coordinator(job);
  coordinator.on_message(
      1, {.type = MessageType::kJoin, .text = encode(mark_of(coordinator.table_text()))}, {});
  EXPECT_THAT(coordinator.take_outbox(), SizeIs(1));
  coordinator.on_message(0, {.type = MessageType::kJoin, .text = encode(mark_of("another"))}, {});
  const auto sent = coordinator.take_outbox();
  ASSERT_GT(sent.size(), 1U);
  std::string text;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].message.type, MessageType::kWelcome);
    EXPECT_LT(encode(sent[i].message).size(), os::kMaxMessageBytes);
    text += sent[i].message.text;
  }
  EXPECT_EQ(text, coordinator.table_text());
}

TEST(Coordinator, RefusesASecondJoinOfARank) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.say(1, {.type = MessageType::kJoin, .id = 9});
  const auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].rank, 1U);
  EXPECT_FALSE(sent[0].with_descriptors);
  EXPECT_EQ(sent[0].message.type, MessageType::kReply);
  EXPECT_EQ(sent[0].message.id, 9U);
  EXPECT_EQ(sent[0].message.error, ErrorCode::kMismatch);
  EXPECT_THAT(sent[0].message.text, HasSubstr("rank 1 has joined already"));
}

TEST(Coordinator, AnswersAGetAtOnceWhenTheKeyIsThere) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.put(0, "plan", "ring");
  EXPECT_THAT(world.sent(), IsEmpty());
  world.get(1, 3, "plan");
  const auto sent = world.sent_to(1);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0], (Message{.type = MessageType::kReply, .id = 3, .text = "ring"}));
}

TEST(Coordinator, HoldsAGetUntilTheKeyComes) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.get(1, 3, "plan");
  world.get(2, 8, "plan");
  world.get(2, 9, "other");
  EXPECT_THAT(world.sent(), IsEmpty());
  world.put(0, "plan", "star");
  const auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].rank, 1U);
  EXPECT_EQ(sent[0].message, (Message{.type = MessageType::kReply, .id = 3, .text = "star"}));
  EXPECT_EQ(sent[1].rank, 2U);
  EXPECT_EQ(sent[1].message, (Message{.type = MessageType::kReply, .id = 8, .text = "star"}));
}

TEST(Coordinator, GivesTheLastValueOfAKeyThatWasPutTwice) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.put(0, "k", "first");
  world.put(1, "k", "last");
  world.get(0, 1, "k");
  EXPECT_EQ(world.sent_to(0).at(0).text, "last");
}

TEST(Coordinator, AnswersAGetOfAnEmptyValue) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.put(0, "k", "");
  world.get(1, 1, "k");
  const auto sent = world.sent_to(1);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_FALSE(sent[0].error);
}

TEST(Coordinator, ReleasesABarrierWhenAllHaveCome) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.barrier(2, 20, "b");
  world.barrier(0, 21, "b");
  EXPECT_THAT(world.sent(), IsEmpty());
  world.barrier(1, 22, "b");
  const auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(3));
  for (const Outgoing& outgoing : sent) {
    EXPECT_EQ(outgoing.message.type, MessageType::kReply);
    EXPECT_FALSE(outgoing.message.error);
  }
  EXPECT_EQ(sent[0].message.id, 20U);
  EXPECT_EQ(sent[1].message.id, 21U);
  EXPECT_EQ(sent[2].message.id, 22U);
}

TEST(Coordinator, KeepsBarriersOfDifferentNamesApartAndLetsOneBeUsedAgain) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.barrier(0, 1, "a");
  world.barrier(1, 2, "b");
  EXPECT_THAT(world.sent(), IsEmpty());
  world.barrier(1, 3, "a");
  EXPECT_THAT(world.sent(), SizeIs(2));
  world.barrier(0, 4, "a");  // Begins a second barrier with the same name.
  EXPECT_THAT(world.sent(), IsEmpty());
  world.barrier(1, 5, "a");
  EXPECT_THAT(world.sent(), SizeIs(2));
}

TEST(Coordinator, RefusesARankThatComesToABarrierTwice) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.barrier(0, 1, "b");
  world.barrier(0, 2, "b");
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].id, 2U);
  EXPECT_EQ(sent[0].error, ErrorCode::kInvalidArgument);
  world.barrier(1, 3, "b");
  EXPECT_THAT(world.sent(), SizeIs(2));
}

TEST(Coordinator, PassesABarrierOfOneAtOnce) {
  CoordinatorWorld world(1);
  world.join_all(1);
  world.barrier(0, 1, "b");
  EXPECT_THAT(world.sent_to(0), SizeIs(1));
}

TEST(Coordinator, NamesWhoIsAbsent) {
  CoordinatorWorld world(4);
  world.say(0, {.type = MessageType::kJoin});
  world.say(1, {.type = MessageType::kJoin});
  world.say(2, {.type = MessageType::kJoin});
  world.sent();
  world.barrier(0, 1, "start", 2);
  world.barrier(2, 2, "start", 60);
  EXPECT_EQ(world.coordinator.next_deadline(), world.now + seconds(2));
  world.pass(1);
  EXPECT_THAT(world.sent(), IsEmpty());
  world.pass(1);
  const auto sent = world.sent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].rank, 0U);
  EXPECT_EQ(sent[0].message.id, 1U);
  EXPECT_EQ(sent[0].message.error, ErrorCode::kTimeout);
  EXPECT_EQ(sent[0].message.blamed, 1U);
  EXPECT_EQ(sent[0].message.text,
            "barrier \"start\" timed out after 2 s: 2 of 4 ranks are absent: rank 1, rank 3 (has "
            "not joined)");
  EXPECT_EQ(world.coordinator.next_deadline(), world.now + seconds(58));
}

TEST(Coordinator, CountsWhoTimesOutTogetherAsPresent) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.barrier(0, 1, "b", 2);
  world.barrier(1, 2, "b", 2);
  world.pass(2);
  for (const Outgoing& outgoing : world.sent()) {
    EXPECT_THAT(outgoing.message.text, HasSubstr("1 of 3 ranks is absent: rank 2"));
  }
}

TEST(Coordinator, TakesBackAnArrivalThatTimedOut) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.barrier(0, 1, "b", 1);
  world.pass(1);
  world.sent();
  world.barrier(1, 2, "b", 5);
  EXPECT_THAT(world.sent(), IsEmpty());
  world.barrier(0, 3, "b", 5);
  EXPECT_THAT(world.sent(), SizeIs(2));
}

TEST(Coordinator, NamesAFewOfManyAbsentRanks) {
  CoordinatorWorld world(100);
  world.join_all(100);
  world.barrier(0, 1, "b", 1);
  world.pass(1);
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].text, HasSubstr("99 of 100 ranks are absent: rank 1, rank 2,"));
  EXPECT_THAT(sent[0].text, HasSubstr("rank 8 and 91 more"));
}

TEST(Coordinator, EndsAGetThatNobodyAnswers) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.get(0, 4, "k", 3);
  world.pass(3);
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].error, ErrorCode::kTimeout);
  EXPECT_FALSE(sent[0].blamed);
  EXPECT_EQ(sent[0].text, "get \"k\" timed out after 3 s: nobody has put it");
  EXPECT_FALSE(world.coordinator.next_deadline());
}

TEST(Coordinator, BlamesTheRankThatWasToPutTheKey) {
  CoordinatorWorld world(3);
  world.join_all(3);
  world.say(0,
            {.type = MessageType::kGet, .id = 4, .blamed = 2, .timeout = seconds(3), .key = "k"});
  world.pass(3);
  const auto sent = world.sent_to(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].blamed, 2U);
  EXPECT_THAT(sent[0].text, HasSubstr("rank 2 has not put it"));
}

TEST(Coordinator, SurvivesWaitsOfAnyLength) {
  CoordinatorWorld world(2);
  world.join_all(2);
  world.say(
      0,
      {.type = MessageType::kGet, .id = 1, .timeout = std::chrono::nanoseconds::max(), .key = "k"});
  EXPECT_GT(*world.coordinator.next_deadline(), world.now + seconds(3600));
  world.say(
      1,
      {.type = MessageType::kGet, .id = 2, .timeout = std::chrono::nanoseconds::min(), .key = "k"});
  world.pass(0);
  const auto sent = world.sent_to(1);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].error, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace rota::rendezvous

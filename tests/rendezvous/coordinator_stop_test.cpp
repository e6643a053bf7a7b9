// Tests how the ranks agree on the last step before they stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/coordinator_world.h"

namespace rota::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CoordinatorStop : public ::testing::Test {
 protected:
  CoordinatorStop() { world_.join_all(3); }

  void trains(std::size_t rank) {
    world_.say(rank, {.type = MessageType::kTraining, .id = kRequest, .timeout = kTimeout});
  }
  void trained(std::size_t rank, std::uint64_t step) {
    world_.say(rank, {.type = MessageType::kTrained, .step = step});
  }
  void begun(std::size_t rank, std::uint64_t step) {
    world_.say(rank, {.type = MessageType::kBegun, .step = step});
  }
  void all_train() {
    for (std::size_t rank = 0; rank < 3; ++rank) trains(rank);
    world_.sent();
  }

  // Returns the ranks to which a message of this type was sent since the last call.
  std::vector<std::size_t> told(MessageType type, std::uint64_t step = 0) {
    std::vector<std::size_t> ranks;
    for (const Outgoing& outgoing : world_.sent()) {
      if (outgoing.message.type == type && outgoing.message.step == step) {
        ranks.push_back(outgoing.rank);
      }
    }
    return ranks;
  }

  static constexpr std::uint32_t kRequest = 7;
  static constexpr std::chrono::seconds kTimeout{10};
  CoordinatorWorld world_{3};
};

TEST_F(CoordinatorStop, LetsARankTrainAtOnce) {
  trains(1);
  const auto sent = world_.sent_to(1);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].type, MessageType::kReply);
  EXPECT_EQ(sent[0].id, kRequest);
  EXPECT_FALSE(sent[0].error);
}

TEST_F(CoordinatorStop, IsPossibleWhileAllHaveTrainedAndSomebodyDoes) {
  EXPECT_FALSE(world_.coordinator.can_stop());
  trains(0);
  trains(1);
  EXPECT_FALSE(world_.coordinator.can_stop()) << "rank 2 has never trained";
  trains(2);
  EXPECT_TRUE(world_.coordinator.can_stop());
  trained(0, 9);
  trained(1, 9);
  EXPECT_TRUE(world_.coordinator.can_stop()) << "rank 2 trains";
  trained(2, 9);
  EXPECT_FALSE(world_.coordinator.can_stop());
}

TEST_F(CoordinatorStop, IsAfterTheHighestStepThatAnybodyHasBegun) {
  all_train();
  world_.coordinator.stop();
  EXPECT_THAT(told(MessageType::kStopAsked), ElementsAre(0, 1, 2));
  begun(1, 5);
  begun(0, 7);
  EXPECT_THAT(world_.sent(), IsEmpty());
  begun(2, 6);
  EXPECT_THAT(told(MessageType::kStopAfter, 7), ElementsAre(0, 1, 2));
}

TEST_F(CoordinatorStop, IsAskedForOnce) {
  all_train();
  world_.coordinator.stop();
  world_.sent();
  world_.coordinator.stop();
  EXPECT_THAT(world_.sent(), IsEmpty());
  for (std::size_t rank = 0; rank < 3; ++rank) begun(rank, 4);
  EXPECT_THAT(told(MessageType::kStopAfter, 4), SizeIs(3));
  world_.coordinator.stop();
  begun(0, 11);
  EXPECT_THAT(world_.sent(), IsEmpty());
}

TEST_F(CoordinatorStop, DoesNotWaitForARankThatHasEnded) {
  all_train();
  world_.coordinator.stop();
  begun(0, 3);
  begun(1, 4);
  world_.sent();
  world_.coordinator.on_departure(2, "was killed by SIGKILL");
  EXPECT_THAT(told(MessageType::kStopAfter, 4), ElementsAre(0, 1));
}

// Rank 2 ends in step 9, which no other rank has begun. Without rank 2, no rank can finish step 9.
TEST_F(CoordinatorStop, ForgetsTheStepOfARankThatHasEnded) {
  all_train();
  world_.coordinator.stop();
  begun(2, 9);
  world_.coordinator.on_departure(2, "exited with code 3");
  begun(0, 8);
  world_.sent();
  begun(1, 8);
  EXPECT_THAT(told(MessageType::kStopAfter, 8), ElementsAre(0, 1));
}

TEST_F(CoordinatorStop, TakesTheEndOfTrainingForAnAnswer) {
  all_train();
  world_.coordinator.stop();
  begun(0, 20);
  begun(1, 20);
  world_.sent();
  trained(2, 20);
  EXPECT_THAT(told(MessageType::kStopAfter, 20), ElementsAre(0, 1, 2));
}

TEST_F(CoordinatorStop, DoesNotAskARankBetweenTwoTrainings) {
  all_train();
  trained(1, 20);
  world_.coordinator.stop();
  EXPECT_THAT(told(MessageType::kStopAsked), ElementsAre(0, 2));
  begun(0, 23);
  begun(2, 22);
  EXPECT_THAT(told(MessageType::kStopAfter, 23), ElementsAre(0, 1, 2));
}

// If the rank were not held, it could begin a step that the others do not take.
TEST_F(CoordinatorStop, HoldsARankThatGoesOnTrainingUntilTheLastStepIsKnown) {
  all_train();
  trained(1, 20);
  world_.coordinator.stop();
  begun(0, 20);
  world_.sent();
  trains(1);
  EXPECT_THAT(world_.sent(), IsEmpty());
  begun(2, 21);
  const auto sent = world_.sent_to(1);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.front().type, MessageType::kStopAfter);
  EXPECT_EQ(sent.front().step, 21U);
  EXPECT_EQ(sent.back().type, MessageType::kReply);
  EXPECT_EQ(sent.back().id, kRequest);
}

TEST_F(CoordinatorStop, TellsTheLastStepToARankThatTrainsAgain) {
  all_train();
  world_.coordinator.stop();
  for (std::size_t rank = 0; rank < 3; ++rank) begun(rank, 4);
  trained(0, 4);
  world_.sent();
  trains(0);
  const auto sent = world_.sent_to(0);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].type, MessageType::kStopAfter);
  EXPECT_EQ(sent[0].step, 4U);
  EXPECT_EQ(sent[1].type, MessageType::kReply);
}

TEST_F(CoordinatorStop, WaitsForARankThatDoesNotAnswer) {
  all_train();
  world_.coordinator.stop();
  begun(0, 3);
  begun(1, 3);
  world_.sent();
  world_.pass(1000);
  EXPECT_THAT(world_.sent(), IsEmpty()) << "how long that may take is the launcher's business";
}

TEST_F(CoordinatorStop, IsImpossibleInAJobThatIsBroken) {
  all_train();
  world_.say(1, {.type = MessageType::kAbort, .error = ErrorCode::kNotFinite, .text = "NaN"});
  EXPECT_FALSE(world_.coordinator.can_stop());
  trained(0, 3);
  world_.sent();
  trains(0);
  EXPECT_EQ(world_.sent_to(0).at(0).type, MessageType::kAborted);
}

TEST_F(CoordinatorStop, LetsAHeldRankGoWhenTheJobBreaks) {
  all_train();
  trained(1, 20);
  world_.coordinator.stop();
  trains(1);
  world_.sent();
  world_.say(0, {.type = MessageType::kAbort, .error = ErrorCode::kNotFinite, .text = "NaN"});
  EXPECT_EQ(world_.sent_to(1).at(0).type, MessageType::kAborted);
  begun(2, 20);
  for (const Message& message : world_.sent_to(1)) EXPECT_NE(message.type, MessageType::kReply);
}

}  // namespace
}  // namespace rota::rendezvous

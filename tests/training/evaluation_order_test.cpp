// Which checkpoint an evaluator takes next, for folders that change meanwhile, and which one is the
// last of a run.
#include "training/evaluation_order.h"

#include <gtest/gtest.h>

namespace rota::training {
namespace {

TEST(EvaluationOrder, TakesTheOldestFirstAndEachOnce) {
  EvaluationOrder order;
  EXPECT_EQ(order.next(), std::nullopt);
  order.look({{20, 0}, {10, 0}});
  EXPECT_EQ(order.next(), (SeenCheckpoint{10, 0}));
  order.settle({10, 0});
  order.look({{10, 0}, {20, 0}, {30, 0}});
  EXPECT_EQ(order.next(), (SeenCheckpoint{20, 0}));
  order.settle({20, 0});
  order.settle({30, 0});
  order.look({{10, 0}, {20, 0}, {30, 0}});
  EXPECT_EQ(order.next(), std::nullopt);
  EXPECT_EQ(order.missed(), 0U);
}

TEST(EvaluationOrder, CountsWhatWasRemovedBeforeItsTurn) {
  EvaluationOrder order;
  order.look({{10, 0}, {20, 0}, {30, 0}});
  order.settle({10, 0});
  order.look({{30, 0}, {40, 0}});
  EXPECT_EQ(order.missed(), 1U) << "20; 10 was evaluated";
  EXPECT_FALSE(order.waits({20, 0}));
  EXPECT_EQ(order.waiting_count(), 2U);
}

// A run comes to a step again if the checkpoint there was damaged.
TEST(EvaluationOrder, TakesAnotherCheckpointOfTheSameStep) {
  EvaluationOrder order;
  order.look({{10, 1}});
  order.settle({10, 1});
  order.look({{10, 2}});
  EXPECT_EQ(order.next(), (SeenCheckpoint{10, 2}));
}

constexpr std::nullopt_t kNotEnded = std::nullopt;

TEST(LastCheckpoint, IsThatOfTheLargestStep) {
  EXPECT_EQ(last_of({}, kNotEnded), std::nullopt);
  EXPECT_EQ(last_of({}, 10), std::nullopt);
  const SavedCheckpoints saved = {{{10, 1}, {"a", 1}}, {{20, 2}, {"a", 1}}, {{30, 3}, {"a", 1}}};
  EXPECT_EQ(last_of(saved, kNotEnded), (SeenCheckpoint{30, 3}));
}

// The newest checkpoint was damaged, so the run was resumed from the one before it, and ended
// earlier.
TEST(LastCheckpoint, IsOfTheLatestStart) {
  const SavedCheckpoints saved = {{{200, 1}, {"a", 1}}, {{250, 3}, {"a", 2}}, {{300, 2}, {"a", 1}}};
  EXPECT_EQ(last_of(saved, kNotEnded), (SeenCheckpoint{250, 3}));
}

TEST(LastCheckpoint, IsTheSameIfTheClockWasSetBack) {
  const SavedCheckpoints one_start = {{{100, 90}, {"a", 1}}, {{200, 10}, {"a", 1}}};
  EXPECT_EQ(last_of(one_start, kNotEnded), (SeenCheckpoint{200, 10}));
  const SavedCheckpoints two_starts = {{{250, 10}, {"a", 2}}, {{300, 90}, {"a", 1}}};
  EXPECT_EQ(last_of(two_starts, kNotEnded), (SeenCheckpoint{250, 10}));
}

// The second start found the checkpoint of step 300 damaged, and had nothing left to do after 200.
TEST(LastCheckpoint, IsThatOfTheEnd) {
  const SavedCheckpoints saved = {{{200, 1}, {"a", 1}}, {{300, 2}, {"a", 1}}};
  EXPECT_EQ(last_of(saved, 200), (SeenCheckpoint{200, 1}));
  EXPECT_EQ(last_of(saved, 400), (SeenCheckpoint{300, 2})) << "it is not there";
}

TEST(LastCheckpoint, IsOfTheRunThatWroteLast) {
  const SavedCheckpoints saved = {
      {{100, 7}, {"new", 1}}, {{200, 8}, {"new", 1}}, {{900, 5}, {"old", 4}}};
  EXPECT_EQ(last_of(saved, kNotEnded), (SeenCheckpoint{200, 8}));
}

TEST(EvaluationOrder, MissesNothingThatWasRemovedWhileItWasEvaluated) {
  EvaluationOrder order;
  order.look({{10, 0}, {20, 0}});
  order.look({{20, 0}});
  EXPECT_EQ(order.missed(), 1U);
  order.settle({10, 0});
  EXPECT_EQ(order.missed(), 0U);
  EXPECT_TRUE(order.take_missed().empty());
}

TEST(EvaluationOrder, NamesEachThatWasMissedOnce) {
  EvaluationOrder order;
  order.look({{10, 0}, {20, 0}, {30, 0}});
  order.look({{30, 0}});
  EXPECT_EQ(order.take_missed(), (std::set<SeenCheckpoint>{{10, 0}, {20, 0}}));
  order.look({{40, 0}});
  EXPECT_EQ(order.take_missed(), (std::set<SeenCheckpoint>{{30, 0}}));
  EXPECT_TRUE(order.take_missed().empty());
  EXPECT_EQ(order.missed(), 3U) << "taken ones count too";
}

}  // namespace
}  // namespace rota::training

// Which checkpoint an evaluator takes next, for folders that change meanwhile.
#include "training/evaluation_order.h"

#include <gtest/gtest.h>

namespace rota::training {
namespace {

TEST(EvaluationOrder, TakesTheOldestFirstAndEachOnce) {
  EvaluationOrder order;
  EXPECT_EQ(order.next(false), std::nullopt);
  order.look({{20, 0}, {10, 0}});
  EXPECT_EQ(order.next(false), (SeenCheckpoint{10, 0}));
  order.settle({10, 0});
  order.look({{10, 0}, {20, 0}, {30, 0}});
  EXPECT_EQ(order.next(false), (SeenCheckpoint{20, 0}));
  order.settle({20, 0});
  order.settle({30, 0});
  order.look({{10, 0}, {20, 0}, {30, 0}});
  EXPECT_EQ(order.next(false), std::nullopt);
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
  EXPECT_EQ(order.next(false), (SeenCheckpoint{10, 2}));
}

TEST(EvaluationOrder, TakesTheNewestAloneAtTheEnd) {
  EvaluationOrder order;
  order.look({{10, 0}, {20, 0}, {30, 0}});
  EXPECT_EQ(order.next(true), (SeenCheckpoint{30, 0}));
  order.settle({30, 0});
  EXPECT_EQ(order.next(true), std::nullopt) << "10 and 20 wait for the next start";
  EXPECT_EQ(order.waiting_count(), 2U);
}

// The newest checkpoint was damaged, so the run was resumed from the one before it, and ended
// earlier.
TEST(EvaluationOrder, TakesTheOneThatWasWrittenLastAtTheEnd) {
  EvaluationOrder order;
  order.look({{200, 1}, {300, 2}});
  order.settle({300, 2});
  order.look({{200, 1}, {250, 3}, {300, 2}});
  EXPECT_EQ(order.next(true), (SeenCheckpoint{250, 3}));
  order.settle({250, 3});
  EXPECT_EQ(order.next(true), std::nullopt);
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

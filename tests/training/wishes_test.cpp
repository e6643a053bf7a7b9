// A hook on one rank asks for something, and all ranks do it after the same step.
#include <rota/trainer.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "testing/error_of.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using testing::on_every_rank;
using testing::small_dataset;

constexpr std::size_t kRanks = 3;
const Dataset kAsked = small_dataset(118);  // 4 steps per epoch in batches of 10; the last has 28.
const Dataset kAskedTest = small_dataset(31);

Model<float> model_to_ask() { return Model<float>({6, 6, 1}, {dense(8), relu(), dense(4)}); }

// Asks in the function and at the step that a test chooses, and records what happens.
class Asker : public TrainingHook {
 public:
  void on_begin(const BeginReport& report) override {
    begins.push_back(report);
    if (at_begin) at_begin(*this);
  }
  void on_step(const StepReport& report) override {
    steps = report.steps;
    if (at_step) at_step(*this, report.steps);
  }
  void on_evaluation(const EvaluationReport& report) override {
    evaluations.push_back(report);
    if (at_evaluation) at_evaluation(*this, report.epoch);
  }
  void stop(const std::string& why, std::uint64_t after = 0) { ask_to_stop(why, after); }
  void learn_by(double factor) { ask_for_learning_rate(factor); }

  std::function<void(Asker&)> at_begin;
  std::function<void(Asker&, std::uint64_t)> at_step;
  std::function<void(Asker&, std::size_t)> at_evaluation;
  std::vector<BeginReport> begins;
  std::vector<EvaluationReport> evaluations;
  std::uint64_t steps = 0;
};

TrainerOptions options_to_ask() {
  TrainerOptions options;
  options.epochs = 3;
  options.batch_size = 10;
  options.optimizer = Sgd{.learning_rate = 0.1};
  return options;
}

// Runs with `ask` set up on rank 1 alone, and returns how each rank ended.
std::vector<EndReport> ends_after(const std::function<void(Asker&)>& ask,
                                  std::vector<Asker>* askers = nullptr) {
  std::vector<Asker> all(kRanks);
  std::vector<EndReport> ends(kRanks);
  ask(all[1]);
  on_every_rank(kRanks, [&](Communicator& communicator) {
    Trainer<float> trainer(communicator, model_to_ask(), kAsked, kAskedTest, options_to_ask());
    trainer.add_hook(all[communicator.rank()]);
    ends[communicator.rank()] = trainer.run();
  });
  if (askers != nullptr) *askers = std::move(all);
  return ends;
}

void expect_stop(const std::vector<EndReport>& ends, std::size_t steps) {
  for (const EndReport& end : ends) {
    EXPECT_TRUE(end.stopped);
    EXPECT_EQ(end.steps, steps);
    EXPECT_EQ(end.stop_reason, "enough");
    EXPECT_EQ(end.weights_hash, ends.front().weights_hash);
  }
}

TEST(Wishes, OfOneRankStopAllRanksAfterTheNextStep) {
  expect_stop(ends_after([](Asker& asker) {
                asker.at_step = [](Asker& self, std::uint64_t step) {
                  if (step == 5) self.stop("enough");
                };
              }),
              6);
}

TEST(Wishes, AreFulfilledBeforeTheNextStepAfterAnEvaluation) {
  std::vector<Asker> askers;
  expect_stop(ends_after(
                  [](Asker& asker) {
                    asker.at_evaluation = [](Asker& self, std::size_t epoch) {
                      if (epoch == 2) self.stop("enough");
                    };
                  },
                  &askers),
              8);
  for (const Asker& asker : askers) EXPECT_EQ(asker.evaluations.size(), 2u);
}

TEST(Wishes, OfTheBeginTakeNoStep) {
  expect_stop(
      ends_after([](Asker& asker) { asker.at_begin = [](Asker& self) { self.stop("enough"); }; }),
      0);
}

TEST(Wishes, WaitForTheStepThatTheyName) {
  for (const std::size_t steps : {1, 3, 4, 5, 8}) {
    std::vector<Asker> askers;
    expect_stop(ends_after(
                    [&](Asker& asker) {
                      asker.at_begin = [steps](Asker& self) { self.stop("enough", steps); };
                    },
                    &askers),
                steps);
    EXPECT_EQ(askers[0].evaluations.size(), steps / 4) << "an epoch that is done is evaluated";
  }
}

TEST(Wishes, OfTheEarlierStopGiveTheReason) {
  expect_stop(ends_after([](Asker& asker) {
                asker.at_begin = [](Asker& self) { self.stop("enough", 6); };
                asker.at_step = [](Asker& self, std::uint64_t step) {
                  if (step == 5) self.stop("more than enough", 7);
                };
              }),
              6);
}

// The last step is the one that the wish names, so nothing is left to stop.
TEST(Wishes, StopNothingThatIsDone) {
  const auto ends = ends_after(
      [](Asker& asker) { asker.at_begin = [](Asker& self) { self.stop("enough", 12); }; });
  for (const EndReport& end : ends) {
    EXPECT_FALSE(end.stopped);
    EXPECT_EQ(end.steps, 12u);
    EXPECT_EQ(end.stop_reason, "");
  }
}

TEST(Wishes, CutALongReasonShort) {
  const auto ends = ends_after(
      [](Asker& asker) { asker.at_begin = [](Asker& self) { self.stop(std::string(300, 'x')); }; });
  for (const EndReport& end : ends) EXPECT_EQ(end.stop_reason, std::string(200, 'x'));
}

TEST(Wishes, AreForgottenByTheNextRun) {
  Communicator alone{CommunicatorOptions{}};
  Trainer<float> trainer(alone, model_to_ask(), kAsked, kAskedTest, options_to_ask());
  Asker asker;
  asker.at_step = [](Asker& self, std::uint64_t) { self.stop("enough"); };
  trainer.add_hook(asker);
  EXPECT_EQ(trainer.run().steps, 2u);
  asker.at_step = nullptr;
  EXPECT_EQ(trainer.run().steps, 36u);
}

// From the second epoch on, the rate is a quarter on all ranks, whether their hooks ask for less or
// for nothing.
TEST(Wishes, LowerTheLearningRateOfAllRanksAlike) {
  const auto ends = ends_after([](Asker& asker) {
    asker.at_evaluation = [](Asker& self, std::size_t epoch) {
      if (epoch > 1) return;
      self.learn_by(0.5);
      self.learn_by(0.25);
    };
  });
  const auto untouched = ends_after([](Asker&) {});
  EXPECT_NE(ends[0].weights_hash, untouched[0].weights_hash);
  std::vector<std::uint64_t> hashes;
  hashes.reserve(ends.size());
  for (const EndReport& end : ends) hashes.push_back(end.weights_hash);

  std::vector<std::uint64_t> by_hand(kRanks);
  on_every_rank(kRanks, [&](Communicator& communicator) {
    Replica<float> replica(communicator, model_to_ask(),
                           {.optimizer = Sgd{.learning_rate = 0.1}, .seed = 1});
    ShardedSampler sampler({.sample_count = kAsked.count(),
                            .batch_size = 10,
                            .rank = communicator.rank(),
                            .world_size = kRanks,
                            .seed = 1});
    BatchBuffer<float> buffer(kAsked, 10);
    for (std::size_t step = 0; step < 12; ++step) {
      if (step % 4 == 0) sampler.shuffle(step / 4 + 1);
      replica.step(buffer.gather(sampler.batch(step % 4)),
                   {.learning_rate_factor = step < 4 ? 1 : 0.25});
    }
    by_hand[communicator.rank()] = replica.weights_hash();
  });
  EXPECT_EQ(hashes, by_hand);
}

TEST(Wishes, RefuseALearningRateThatIsNotLower) {
  for (const double factor : {0.0, -1.0, 1.5}) {
    EXPECT_THROW(Asker().learn_by(factor), Error) << factor;
  }
  const auto error = testing::error_of([] { Asker().learn_by(1.0000001); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "a hook asks for 1.0000001 times the learning rate: expected more than 0, and at "
               "most 1");
}

TEST(Hooks, AreToldOfTheBeginAndOfEvaluations) {
  std::vector<Asker> askers;
  ends_after([](Asker&) {}, &askers);
  for (const Asker& asker : askers) {
    ASSERT_EQ(asker.begins.size(), 1u);
    EXPECT_TRUE(asker.begins[0].fresh);
    EXPECT_EQ(asker.begins[0].world_size, kRanks);
    EXPECT_EQ(asker.begins[0].epoch, 1u);
    ASSERT_EQ(asker.evaluations.size(), 3u);
    EXPECT_EQ(asker.evaluations[1].epoch, 2u);
    EXPECT_EQ(asker.evaluations[1].steps, 8u);
    EXPECT_EQ(asker.evaluations[1].score.samples, 31u);
    EXPECT_EQ(asker.steps, 12u);
  }
}

TEST(Hooks, OfTheChiefAreCalledOnRank0Alone) {
  std::vector<Asker> askers(kRanks);
  on_every_rank(kRanks, [&](Communicator& communicator) {
    Trainer<float> trainer(communicator, model_to_ask(), kAsked, kAskedTest, options_to_ask());
    trainer.add_chief_hook(askers[communicator.rank()]);
    trainer.run();
  });
  EXPECT_EQ(askers[0].steps, 12u);
  EXPECT_EQ(askers[1].steps, 0u);
  EXPECT_EQ(askers[2].steps, 0u);
}

class Counter : public TrainingHook {
 public:
  explicit Counter(std::uint64_t first = 0) : count(first) {}
  void visit_state(StateVisitor& visitor) override {
    visitor.visit_counter({.name = "counter"}, count);
  }
  std::uint64_t count;
};

// Only rank 0 has the piece, so it must be a piece of that rank.
TEST(Hooks, OfTheChiefHaveStateOfTheirOwn) {
  std::vector<std::uint64_t> counts(kRanks);
  on_every_rank(kRanks, [&](Communicator& communicator) {
    Trainer<float> trainer(communicator, model_to_ask(), kAsked, kAskedTest, options_to_ask());
    Counter counter(7);
    trainer.add_chief_hook(counter);
    const State state = trainer.state();
    counter.count = 9;
    trainer.give_state(state);
    counts[communicator.rank()] = counter.count;
  });
  EXPECT_THAT(counts, ElementsAre(7, 9, 9));
}

TEST(Hooks, ThatFailInTheirStateAreNamed) {
  class Forgetful : public TrainingHook {
    void visit_state(StateVisitor&) override { throw std::runtime_error("I forgot"); }
  };
  Communicator alone{CommunicatorOptions{}};
  Trainer<float> trainer(alone, model_to_ask(), kAsked, kAskedTest, options_to_ask());
  Forgetful forgetful;
  trainer.add_hook(forgetful);
  try {
    trainer.state();
    FAIL() << "the hook was believed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a training hook failed when its state was visited: I forgot");
  }
}

// A visitor that fails, for example because the disk is full, is not the hook's fault.
TEST(Hooks, AreNotBlamedForTheVisitor) {
  class Full : public StateVisitor {
    void visit_fact(const StatePiece&, const std::string&) override {}
    void visit_counter(const StatePiece& piece, std::uint64_t&) override {
      if (piece.name == "counter") throw Error(ErrorCode::kSystem, "the disk is full");
    }
    void visit_tensor(const StatePiece&, std::span<const std::size_t>, Values) override {}
  };
  Communicator alone{CommunicatorOptions{}};
  Trainer<float> trainer(alone, model_to_ask(), kAsked, kAskedTest, options_to_ask());
  Counter counter;
  trainer.add_hook(counter);
  Full full;
  try {
    trainer.visit_state(full);
    FAIL() << "the visitor was ignored";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the disk is full");
  }
}

}  // namespace
}  // namespace rota

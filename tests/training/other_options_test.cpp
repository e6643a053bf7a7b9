// What a Trainer may change when it goes on from a checkpoint, and what it says about that. Method:
// the ranks are threads, and the files are real.
#include <rota/hooks.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/checkpoint.h>
#include <rota/trainer.h>

#include "communicator/by_hand_world.h"
#include "testing/own_ports.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::small_dataset;

const Dataset kTraining = small_dataset(40);
const Dataset kOtherTraining = small_dataset(41);
const Dataset kTest = small_dataset(12);
const Dataset kOtherTest = small_dataset(13);

// Returns the options of two ranks with seeds of codecs of their own.
std::vector<CommunicatorOptions> with_seeds(std::uint64_t first, std::uint64_t second) {
  const auto addresses = testing::free_addresses(2);
  std::vector<CommunicatorOptions> ranks = {options_for(0, addresses), options_for(1, addresses)};
  ranks[0].codec_seed = first;
  ranks[1].codec_seed = second;
  return ranks;
}

// Keeps what a run says at its beginning.
class Beginning : public TrainingHook {
 public:
  void on_begin(const BeginReport& report) override { begin = report; }
  BeginReport begin;
};

class OtherOptions : public ::testing::Test {
 protected:
  // Is given the rank, too.
  using Prepare = std::function<void(Trainer<float>&, std::size_t)>;

  // Trains until `epochs` epochs are done, and returns how rank 0 has begun.
  BeginReport train(std::size_t epochs, const Dataset& test, const Prepare& prepare = {}) const {
    BeginReport begin;
    on_every_rank(2, [&](Communicator& communicator) {
      const BeginReport mine = train(communicator, epochs, kTraining, test, prepare);
      if (communicator.rank() == 0) begin = mine;
    });
    return begin;
  }

  BeginReport train(Communicator& communicator, std::size_t epochs, const Dataset& training,
                    const Dataset& test, const Prepare& prepare) const {
    TrainerOptions options;
    options.epochs = epochs;
    options.batch_size = 10;
    options.accumulation_steps = micro_batches_;
    options.session.checkpoints.folder = folder_.path() / "run";
    if (is_apart_) {
      options.accumulation_steps += communicator.rank();
      options.session.checkpoints.folder += std::to_string(communicator.rank());
      options.session.checkpoints.storage = CheckpointStorage::kPerHost;
    }
    Trainer<float> trainer(communicator, Model<float>({6, 6, 1}, layers_), training, test, options);
    Beginning hook;
    trainer.add_hook(hook);
    if (prepare) prepare(trainer, communicator.rank());
    trainer.run();
    return hook.begin;
  }

  std::vector<Layer> layers_ = {dense(4)};
  std::size_t micro_batches_ = 1;
  bool is_apart_ = false;  // Each rank has a folder and a number of micro-batches of its own.
  testing::TemporaryFolder folder_;
};

TEST_F(OtherOptions, AnotherRateOfADropoutIsTakenAndNamed) {
  layers_ = {dense(4), dropout(0.25)};
  train(1, kTest);
  layers_ = {dense(4), dropout(0.5)};
  const BeginReport begin = train(2, kTest);
  EXPECT_FALSE(begin.fresh);
  EXPECT_THAT(begin.note, HasSubstr("model was 6 × 6 × 1, dense 4, dropout 0.25 and is 6 × 6 × 1, "
                                    "dense 4, dropout 0.5"));
}

// Another plan adds up in another order, so the bits may change.
TEST_F(OtherOptions, AnotherPlanIsTakenAndNamed) {
  train(1, kTest);
  BeginReport begin;
  on_every_rank(2, [&](Communicator& communicator) {
    Communicator star = communicator.split(0, communicator.rank(), "star");
    const BeginReport mine = train(star, 2, kTraining, kTest, {});
    if (star.rank() == 0) begin = mine;
  });
  EXPECT_FALSE(begin.fresh);
  EXPECT_THAT(begin.note, HasSubstr("plan was auto and is star"));
}

TEST_F(OtherOptions, AnotherSeedOfCodecsIsTakenAndNamed) {
  const auto train_alone = [&](std::uint64_t codec_seed, std::size_t epochs) {
    CommunicatorOptions options;
    options.codec_seed = codec_seed;
    Communicator alone(options);
    return train(alone, epochs, kTraining, kTest, {}).note;
  };
  train_alone(0, 1);
  EXPECT_THAT(train_alone(0, 2), ::testing::Not(HasSubstr("codec seed")));
  EXPECT_THAT(train_alone(7, 3), HasSubstr("codec seed was 0 and is 7"));
}

TEST_F(OtherOptions, AnotherNumberOfMicroBatchesIsTakenAndNamed) {
  train(1, kTest);
  micro_batches_ = 2;
  const BeginReport begin = train(2, kTest);
  EXPECT_FALSE(begin.fresh);
  EXPECT_THAT(begin.note, HasSubstr("micro-batches of a batch was 1 and is 2"));
}

// Ranks need not agree on what is only noted. Hosts with other facts would have no copies of one
// checkpoint, so the run could not resume.
TEST_F(OtherOptions, OfEachRankAreNotedAsThoseOfRank0) {
  is_apart_ = true;
  const auto train_two = [&](std::uint64_t seed, std::size_t epochs) {
    std::array<BeginReport, 2> begins;
    expect_no_errors(run_ranks(with_seeds(seed, 5), [&](Communicator& communicator) {
      begins[communicator.rank()] = train(communicator, epochs, kTraining, kTest, {});
    }));
    return begins;
  };
  train_two(3, 1);
  for (const BeginReport& begin : train_two(3, 2)) {
    EXPECT_FALSE(begin.fresh);
    EXPECT_THAT(begin.note, ::testing::Not(HasSubstr("codec seed")));
    EXPECT_THAT(begin.note, ::testing::Not(HasSubstr("micro-batches")));
  }
  for (const BeginReport& begin : train_two(7, 3)) {
    EXPECT_FALSE(begin.fresh);
    EXPECT_THAT(begin.note, HasSubstr("codec seed was 3 and is 7"));
  }
}

TEST_F(OtherOptions, AStateInMemoryIsTakenByAnotherPlanAndMicroBatchesAndSeedsOfEachRank) {
  expect_no_errors(run_ranks(with_seeds(3, 5), [&](Communicator& communicator) {
    const auto model = [&] { return Model<float>({6, 6, 1}, layers_); };
    Trainer<float> first(communicator, model(), kTraining, kTest, {.batch_size = 10});
    Communicator star = communicator.split(0, communicator.rank(), "star");
    Trainer<float> other(star, model(), kTraining, kTest,
                         {.batch_size = 10, .accumulation_steps = 2});
    other.give_state(first.state());
  }));
}

// Checkpoints of earlier versions lack some facts.
TEST_F(OtherOptions, AFactThatACheckpointLacksIsPassedOverIfItIsOnlyNoted) {
  std::string plan;  // Empty: the run has no such fact.
  std::vector<float> weights(3);
  const auto visit = [&](StateVisitor& visitor) {
    if (!plan.empty()) visitor.visit_fact({.name = "plan", .fit = StateFit::kNoted}, plan);
    const std::size_t count = weights.size();
    visitor.visit_tensor({.name = "model/weights"}, std::span(&count, 1), weights);
  };
  Communicator alone{CommunicatorOptions{}};
  CheckpointOptions options;
  options.folder = folder_.path() / "run";
  const auto note_of_start = [&] {
    Checkpointer checkpointer(alone, options, visit);
    const Restored restored = checkpointer.restore();
    checkpointer.finish(restored.step + 1);
    return restored.note;
  };
  EXPECT_EQ(note_of_start(), "");
  plan = "ring";
  EXPECT_EQ(note_of_start(), "");
  plan = "star";
  EXPECT_THAT(note_of_start(), HasSubstr("plan was ring and is star"));
}

TEST_F(OtherOptions, AnotherTestSetIsTakenAndNamed) {
  EXPECT_TRUE(train(1, kTest).fresh);
  const BeginReport begin = train(2, kOtherTest);
  EXPECT_FALSE(begin.fresh);
  EXPECT_THAT(begin.note, HasSubstr("test set of was 12 samples"));
  EXPECT_THAT(begin.note, HasSubstr("and is 13 samples"));
}

TEST_F(OtherOptions, ATrainingThatIsDoneEvaluatesAnotherTestSet) {
  train(1, kTest);
  class Ending : public TrainingHook {
   public:
    EndReport end;
    void on_end(const EndReport& report) override { end = report; }
  };
  std::vector<Ending> endings(2);
  train(1, small_dataset(14),
        [&](Trainer<float>& trainer, std::size_t rank) { trainer.add_hook(endings[rank]); });
  for (const Ending& ending : endings) {
    EXPECT_FALSE(ending.end.stopped);
    EXPECT_EQ(ending.end.test.samples, 14U);
  }
}

TEST_F(OtherOptions, AValidationSetIsAddedChangedAndRemoved) {
  train(1, kTest);
  const auto validate_on = [](std::vector<std::uint64_t> samples) {
    return [samples = std::move(samples)](Trainer<float>& trainer, std::size_t) {
      trainer.set_validation(DatasetView(kOtherTest, samples));
    };
  };
  const BeginReport added = train(2, kTest, validate_on({1, 2, 3}));
  EXPECT_FALSE(added.fresh);
  EXPECT_THAT(added.note, HasSubstr("validation set of was no such entry and is 3 samples"));
  const BeginReport changed = train(3, kTest, validate_on({1, 2, 4}));
  EXPECT_FALSE(changed.fresh);
  EXPECT_THAT(changed.note, HasSubstr("validation set of was 3 samples"));
  const BeginReport removed = train(4, kTest);
  EXPECT_FALSE(removed.fresh);
  EXPECT_THAT(removed.note, HasSubstr("this training run has no validation set of"));
}

TEST_F(OtherOptions, HooksAreAddedAndRemoved) {
  for (const bool is_chiefs : {false, true}) {
    std::filesystem::remove_all(folder_.path() / "run");
    std::array<EarlyStopping, 2> hooks;  // One for each rank.
    const auto add = [&](Trainer<float>& trainer, std::size_t rank) {
      EarlyStopping& hook = hooks[rank];
      is_chiefs ? trainer.add_chief_hook(hook) : trainer.add_hook(hook);
    };
    train(1, kTest);
    const BeginReport added = train(2, kTest, add);
    EXPECT_FALSE(added.fresh);
    EXPECT_THAT(added.note, HasSubstr("the checkpoint lacks early stopping/best, "));
    const BeginReport removed = train(3, kTest);
    EXPECT_FALSE(removed.fresh);
    EXPECT_THAT(removed.note, HasSubstr("this training run has no early stopping/best, "));
  }
}

TEST_F(OtherOptions, AnotherTrainingSetIsRefused) {
  train(1, kTest);
  const auto outcomes = outcomes_of_ranks(
      2, [&](Communicator& communicator) { train(communicator, 2, kOtherTraining, kTest, {}); });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kMismatch);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("training set of 40 samples"));
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("training set of 41 samples"));
  }
}

// Method: a run that stops after its third step is in the middle of its second epoch. The second
// run ends before it is to stop.
TEST_F(OtherOptions, FewerEpochsThanHaveBegunAreRefused) {
  struct Case {
    std::uint64_t stop_after;
    const char* text;
  };
  for (const Case& each : {Case{3,
                                "the state is 20 samples into epoch 2, but this training run "
                                "ends after epoch 1: set epochs to 2 or more"},
                           Case{100,
                                "the state is at the end of epoch 3, but this training run ends "
                                "after epoch 1: set epochs to 3 or more"}}) {
    std::filesystem::remove_all(folder_.path() / "run");
    std::array<StopAfter, 2> hooks = {StopAfter({.steps = each.stop_after}),
                                      StopAfter({.steps = each.stop_after})};
    train(3, kTest,
          [&](Trainer<float>& trainer, std::size_t rank) { trainer.add_hook(hooks[rank]); });
    const auto outcomes = outcomes_of_ranks(
        2, [&](Communicator& communicator) { train(communicator, 1, kTraining, kTest, {}); });
    for (const auto& outcome : outcomes) {
      EXPECT_EQ(error_of(outcome).code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error_of(outcome).what(), HasSubstr(each.text));
    }
    EXPECT_FALSE(train(3, kTest).fresh) << "so many epochs fit";
  }
}

}  // namespace
}  // namespace rota

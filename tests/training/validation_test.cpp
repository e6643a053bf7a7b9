// A validation set beside the test set: what hooks are told of, and which sets are refused.
#include <rota/hooks.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include <rota/split.h>
#include <rota/trainer.h>

#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::small_dataset;

const Dataset kWhole = small_dataset(57);
const Dataset kTestOfValidated = small_dataset(12);

class Scores : public TrainingHook {
 public:
  void on_evaluation(const EvaluationReport& report) override { evaluations.push_back(report); }
  void on_epoch(const EpochReport& report) override { epochs.push_back(report); }
  std::vector<EvaluationReport> evaluations;
  std::vector<EpochReport> epochs;
};

TrainerOptions validated_options() {
  TrainerOptions options;
  options.epochs = 2;
  options.batch_size = 10;
  options.optimizer = Sgd{.learning_rate = 0.1};
  return options;
}

struct Validated {
  Scores scores;
  EndReport end;
  Score whole;  // The validation set's score of the last weights, by one rank alone.
};

Validated train_on_part(std::size_t world_size, bool validates) {
  const DatasetSplit parts = split(kWhole, {.validation = 0.25, .stratified = true});
  std::vector<Validated> ranks(world_size);
  on_every_rank(world_size, [&](Communicator& communicator) {
    Validated& mine = ranks[communicator.rank()];
    Trainer<float> trainer(communicator, Model<float>({6, 6, 1}, {dense(4)}), parts.train,
                           kTestOfValidated, validated_options());
    if (validates) trainer.set_validation(parts.validation);
    trainer.add_hook(mine.scores);
    mine.end = trainer.run();
    auto all = samples_of(parts.validation, trainer.replica().model(), 20, "validation");
    std::vector<std::uint64_t> samples(all.count);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = i;
    mine.whole = trainer.replica().evaluate(all.gather({.samples = samples}));
  });
  return std::move(ranks.back());
}

TEST(Validation, IsWhatHooksSeeBesideTheTestSet) {
  const Validated plain = train_on_part(2, false);
  const Validated validated = train_on_part(2, true);
  EXPECT_EQ(validated.end.weights_hash, plain.end.weights_hash) << "evaluating changes nothing";
  EXPECT_EQ(validated.end.test.samples, 12U);
  ASSERT_EQ(validated.scores.evaluations.size(), 2U);
  const EvaluationReport& last = validated.scores.evaluations.back();
  EXPECT_TRUE(last.is_validation);
  EXPECT_EQ(last.score.samples, 14U);
  EXPECT_EQ(last.score.correct, validated.whole.correct);
  EXPECT_NEAR(last.score.loss, validated.whole.loss, 1e-5);
  const EpochReport& epoch = validated.scores.epochs.back();
  EXPECT_EQ(epoch.validation.loss, last.score.loss);
  EXPECT_EQ(epoch.test.loss, plain.scores.epochs.back().test.loss);

  EXPECT_FALSE(plain.scores.evaluations.back().is_validation);
  EXPECT_EQ(plain.scores.evaluations.back().score.samples, 12U);
  EXPECT_EQ(plain.scores.epochs.back().validation.samples, 0U);
}

TEST(Validation, MustBeTheSameOnAllRanks) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    Trainer<float> trainer(communicator, Model<float>({6, 6, 1}, {dense(4)}), kWhole,
                           kTestOfValidated, validated_options());
    const double share = communicator.rank() == 0 ? 0.25 : 0.5;
    trainer.set_validation(split(kWhole, {.validation = share}).validation);
  });
  for (const auto& outcome : outcomes) {
    const Error error = testing::error_of(outcome);
    EXPECT_EQ(error.code(), ErrorCode::kMismatch);
    EXPECT_THAT(error.what(), HasSubstr("validation set of"));
    EXPECT_THAT(error.what(), HasSubstr("14 samples"));
  }
}

TEST(Validation, MustHaveSamples) {
  Communicator alone{CommunicatorOptions{}};
  Trainer<float> trainer(alone, Model<float>({6, 6, 1}, {dense(4)}), kWhole, kTestOfValidated,
                         validated_options());
  EXPECT_THROW(trainer.set_validation(BatchSource<float>{}), Error);
  EXPECT_THROW(trainer.set_validation(DatasetView(kWhole, {})), Error);
}

// The score of another set would be compared with the best one so far.
TEST(Validation, IsAFactOfTheState) {
  Communicator alone{CommunicatorOptions{}};
  const auto make = [&] {
    return std::make_unique<Trainer<float>>(alone, Model<float>({6, 6, 1}, {dense(4)}), kWhole,
                                            kTestOfValidated, validated_options());
  };
  const auto first = make();
  first->set_validation(DatasetView(kWhole, {1, 2, 3}));
  const State state = first->state();
  const auto same = make();
  same->set_validation(DatasetView(kWhole, {1, 2, 3}));
  same->give_state(state);
  const auto other = make();
  other->set_validation(DatasetView(kWhole, {1, 2, 4}));
  EXPECT_THROW(other->give_state(state), Error);
}

}  // namespace
}  // namespace rota

// Tests the training loop: what it refuses, what it tells its hooks, and that it gives the same
// weights as a loop by hand.
#include <rota/trainer.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "testing/comma_locale.h"
#include "testing/error_of.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::small_dataset;

const Dataset kTrain = small_dataset(103);
const Dataset kTest = small_dataset(31);

template <class T>
Model<T> model_to_train() {
  return Model<T>({6, 6, 1}, {dense(8), relu(), dropout(0.25), dense(4)});
}

TrainerOptions options_for(std::size_t batch_size) {
  TrainerOptions options;
  options.epochs = 3;
  options.batch_size = batch_size;
  options.seed = 11;
  options.optimizer = Sgd{.learning_rate = 0.2, .momentum = 0.5, .weight_decay = 0.001};
  return options;
}

class Recorder : public TrainingHook {
 public:
  void on_step(const StepReport& report) override { steps.push_back(report); }
  void on_epoch(const EpochReport& report) override { epochs.push_back(report); }
  void on_end(const EndReport& report) override { ends.push_back(report); }

  std::vector<StepReport> steps;
  std::vector<EpochReport> epochs;
  std::vector<EndReport> ends;
};

TEST(Trainer, TellsTheSameToTheHooksOfEveryRank) {
  std::vector<Recorder> recorders(4);
  on_every_rank(4, [&](Communicator& communicator) {
    Trainer<float> trainer(communicator, model_to_train<float>(), kTrain, kTest, options_for(10));
    trainer.add_hook(recorders[communicator.rank()]);
    trainer.run();
  });
  for (const Recorder& recorder : recorders) {
    ASSERT_EQ(recorder.steps.size(), 9u);  // Batches of 40, 40 and 23 samples, three times.
    ASSERT_EQ(recorder.epochs.size(), 3u);
    ASSERT_EQ(recorder.ends.size(), 1u);
    EXPECT_EQ(recorder.steps[4].epoch, 2u);
    EXPECT_EQ(recorder.steps[4].step, 2u);
    EXPECT_EQ(recorder.steps[4].step_count, 3u);
    EXPECT_EQ(recorder.steps[4].score.samples, 40u);
    EXPECT_EQ(recorder.steps[5].score.samples, 23u);
    EXPECT_EQ(recorder.steps[5].samples, 206u);
    EXPECT_EQ(recorder.epochs[1].epoch, 2u);
    EXPECT_EQ(recorder.epochs[1].train.samples, 103u);
    EXPECT_EQ(recorder.epochs[1].test.samples, 31u) << "all of the test set, over all ranks";
    EXPECT_EQ(recorder.epochs[2].train.loss, recorders[0].epochs[2].train.loss);
    EXPECT_EQ(recorder.epochs[2].test.loss, recorders[0].epochs[2].test.loss);
    EXPECT_EQ(recorder.ends[0].world_size, 4u);
    EXPECT_EQ(recorder.ends[0].transport, "shm");
    EXPECT_EQ(recorder.ends[0].steps, 9u);
    EXPECT_FALSE(recorder.ends[0].stopped);
    EXPECT_EQ(recorder.ends[0].weights_hash, recorders[0].ends[0].weights_hash);
    EXPECT_LE(recorder.epochs[2].train_seconds, recorder.ends[0].seconds);
  }
}

TEST(Trainer, Learns) {
  Communicator alone{CommunicatorOptions{}};
  TrainerOptions options = options_for(10);
  options.epochs = 30;
  Trainer<float> trainer(alone, model_to_train<float>(), kTrain, kTest, options);
  EXPECT_GE(trainer.run().test.correct, 28u) << "of 31; four classes";
}

Score final_score(std::size_t world_size, std::size_t batch_size) {
  Score score;
  on_every_rank(world_size, [&](Communicator& communicator) {
    Trainer<double> trainer(communicator, model_to_train<double>(), kTrain, kTest,
                            options_for(batch_size));
    const EndReport end = trainer.run();
    if (communicator.rank() == 0) score = end.test;
  });
  return score;
}

TEST(Trainer, EndsTheSameHoweverManyRanksShareABatch) {
  const Score alone = final_score(1, 12);
  for (const auto& [world_size, batch_size] : {std::pair{2, 6}, {3, 4}, {4, 3}}) {
    const Score shared =
        final_score(static_cast<std::size_t>(world_size), static_cast<std::size_t>(batch_size));
    EXPECT_NEAR(shared.loss, alone.loss, 1e-10) << world_size << " ranks";
    EXPECT_EQ(shared.correct, alone.correct);
    EXPECT_EQ(shared.samples, 31u);
  }
}

// Compares the trainer with the same loop by hand, from the parts that a user has.
TEST(Trainer, LowersTheLearningRateInAStraightLine) {
  TrainerOptions options = options_for(20);
  options.final_learning_rate_factor = 0.25;
  Communicator alone{CommunicatorOptions{}};
  Trainer<double> trainer(alone, model_to_train<double>(), kTrain, kTest, options);
  Recorder recorder;
  trainer.add_hook(recorder);
  const std::uint64_t hash = trainer.run().weights_hash;

  Replica<double> replica(alone, model_to_train<double>(),
                          {.optimizer = options.optimizer, .seed = options.seed});
  ShardedSampler sampler({.sample_count = kTrain.count(), .batch_size = 20, .seed = options.seed});
  BatchBuffer<double> buffer(kTrain, 20);
  for (std::size_t step = 0; step < 18; ++step) {  // There are 6 steps per epoch.
    if (step % 6 == 0) sampler.shuffle(step / 6 + 1);
    Batch<double> batch = buffer.gather(sampler.batch(step % 6));
    batch.seed = options.seed;
    batch.step = step;
    const double factor = 1 - 0.75 / 18 * static_cast<double>(step);
    replica.step(batch, {.learning_rate_factor = factor});
    EXPECT_EQ(recorder.steps.at(step).learning_rate, 0.2 * factor);
  }
  EXPECT_EQ(replica.weights_hash(), hash);
}

// Batches of 12 samples in parts of 3, 3, 3, 3. The last batch of the epoch has parts of 2, 2, 2,
// 1, or fewer samples than parts.
TEST(Trainer, TakesTheSameStepsInMicroBatches) {
  const auto values_after = [](std::size_t accumulation_steps) {
    TrainerOptions options = options_for(12);
    options.accumulation_steps = accumulation_steps;
    Communicator alone{CommunicatorOptions{}};
    Trainer<double> trainer(alone, model_to_train<double>(), kTrain, kTest, options);
    trainer.run();
    const std::span<const double> values = trainer.replica().values(0);
    return std::vector<double>(values.begin(), values.end());
  };
  const std::vector<double> whole = values_after(1);
  for (const std::size_t steps : {4, 9}) {
    EXPECT_THAT(values_after(steps), ::testing::Pointwise(::testing::DoubleNear(1e-12), whole));
  }
}

TEST(Trainer, ClipsWhereItIsToldTo) {
  const auto hash_after = [](double max_gradient_norm) {
    TrainerOptions options = options_for(12);
    options.max_gradient_norm = max_gradient_norm;
    Communicator alone{CommunicatorOptions{}};
    return Trainer<float>(alone, model_to_train<float>(), kTrain, kTest, options)
        .run()
        .weights_hash;
  };
  EXPECT_NE(hash_after(0.5), hash_after(0));
  EXPECT_EQ(hash_after(1e6), hash_after(0)) << "nothing is that large";
}

TEST(Trainer, TellsTheOtherRanksThatAHookFailed) {
  class Fails : public TrainingHook {
    void on_epoch(const EpochReport&) override { throw std::runtime_error("the disk is full"); }
  };
  const auto outcomes = outcomes_of_ranks(3, [](Communicator& communicator) {
    Trainer<float> trainer(communicator, model_to_train<float>(), kTrain, kTest, options_for(10));
    Fails fails;
    if (communicator.rank() == 1) trainer.add_hook(fails);
    trainer.run();
  });
  EXPECT_THROW(std::rethrow_exception(outcomes[1]), std::runtime_error);
  EXPECT_EQ(error_of(outcomes[0]).code(), ErrorCode::kAborted);
  EXPECT_THAT(error_of(outcomes[2]).what(),
              HasSubstr("rank 1: a training hook failed: the disk is full"));
}

// If different data sets were accepted, the ranks would wait for one another at the end of the
// epoch.
TEST(Trainer, RefusesRanksWithOtherData) {
  const Dataset shorter = small_dataset(102);
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    Trainer<float>(communicator, model_to_train<float>(),
                   communicator.rank() == 1 ? shorter : kTrain, kTest, options_for(10));
  });
  for (const std::exception_ptr& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kMismatch);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("rank 1 has training set of 102 samples"));
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("rank 0 has training set of 103 samples"));
  }
}

// Six digits of the two factors are the same.
TEST(Trainer, RefusesRanksWithAnotherFactor) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    TrainerOptions options = options_for(10);
    options.final_learning_rate_factor = communicator.rank() == 1 ? 0.12345671 : 0.12345672;
    Trainer<float>(communicator, model_to_train<float>(), kTrain, kTest, options);
  });
  for (const std::exception_ptr& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kMismatch);
    EXPECT_THAT(error_of(outcome).what(),
                HasSubstr("rank 1 has final learning rate factor 0.12345671, but rank 0 has final "
                          "learning rate factor 0.12345672"));
  }
}

// Ranks compare the facts of a state, and a state in memory fits if its facts have the same text.
TEST(Trainer, HasTheSameStateInEveryLocale) {
  const auto state_at_start = [] {
    TrainerOptions options = options_for(10);
    options.final_learning_rate_factor = 0.25;
    options.max_gradient_norm = 1.5;
    Communicator alone{CommunicatorOptions{}};
    return Trainer<float>(alone, model_to_train<float>(), kTrain, kTest, options).state();
  };
  const State state = state_at_start();
  const testing::CommaLocale locale;
  ASSERT_TRUE(testing::CommaLocale::is_in_use());
  EXPECT_TRUE(state_at_start() == state);
}

struct Setting {
  Dataset train = kTrain;
  Dataset test = kTest;
  TrainerOptions options = options_for(10);
};

std::string refusal_to_train(const Setting& setting) {
  Communicator alone{CommunicatorOptions{}};
  try {
    Trainer<float>(alone, model_to_train<float>(), setting.train, setting.test, setting.options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(Trainer, RefusesOptionsThatMakeNoSense) {
  EXPECT_EQ(refusal_to_train({}), "accepted");
  Setting setting;
  setting.options.epochs = 0;
  EXPECT_EQ(refusal_to_train(setting), "epochs 0: expected 1 or more");
  setting = {};
  setting.options.batch_size = 0;
  EXPECT_THAT(refusal_to_train(setting), HasSubstr("batch size 0: expected 1 to 103"));
  setting = {};
  setting.options.batch_size = 104;
  EXPECT_THAT(refusal_to_train(setting), HasSubstr("batch size 104: expected 1 to 103"));
  setting = {};
  setting.options.accumulation_steps = 0;
  EXPECT_EQ(refusal_to_train(setting), "accumulation steps 0: expected 1 or more");
  setting = {};
  setting.options.max_gradient_norm = -1;
  EXPECT_EQ(refusal_to_train(setting),
            "max_gradient_norm is -1; it must be finite and not negative");
  setting = {};
  setting.options.final_learning_rate_factor = 1.5;
  EXPECT_EQ(refusal_to_train(setting), "final learning rate factor 1.5: expected 0 to 1");
  setting.options.final_learning_rate_factor = 1.0000001;
  EXPECT_EQ(refusal_to_train(setting), "final learning rate factor 1.0000001: expected 0 to 1");
  setting = {};
  setting.options.optimizer = Sgd{.learning_rate = -1};
  EXPECT_THAT(refusal_to_train(setting), HasSubstr("learning_rate"));
}

TEST(Trainer, RefusesDataThatDoesNotFitTheModel) {
  Setting setting;
  setting.test.shape = {5, 6, 1};
  EXPECT_EQ(refusal_to_train(setting),
            "the test set has images of 5 x 6 x 1, but the model takes 6 x 6 x 1");
  setting = {};
  setting.train.labels[50] = 4;
  EXPECT_EQ(refusal_to_train(setting),
            "the training set has a label 4, but the model has 4 classes");
  setting = {};
  setting.train.pixels.pop_back();
  EXPECT_EQ(refusal_to_train(setting),
            "the training set has 3707 pixels for 103 images of 6 x 6 x 1");
  setting = {};
  setting.test = small_dataset(0);
  EXPECT_EQ(refusal_to_train(setting), "the test set is empty");
}

// The source fails at the second micro-batch of the first step.
TEST(Trainer, ForgetsTheMicroBatchesOfAStepThatFailed) {
  const Dataset data = small_dataset(60);
  const auto hash_after = [&](bool fails_first) {
    Communicator alone{CommunicatorOptions{}};
    Model<float> model({6, 6, 1}, {dense(4)});
    auto train = samples_of(data, model, 10, "training");
    int calls = 0;
    train.gather = [&, gather = train.gather](const SampleRun& run) {
      if (fails_first && ++calls == 2) throw Error(ErrorCode::kBadData, "record 12 is damaged");
      return gather(run);
    };
    auto test = samples_of(data, model, 20, "test");
    Trainer<float> trainer(alone, std::move(model), train, test,
                           {.batch_size = 20, .accumulation_steps = 2});
    if (fails_first) {
      EXPECT_TRUE(error_of([&] { trainer.run(); }));
    }
    return trainer.run().weights_hash;
  };
  EXPECT_EQ(hash_after(true), hash_after(false));
}

}  // namespace
}  // namespace rota

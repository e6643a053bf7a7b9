// Tests a replica and a trainer with a model that rota does not provide. Its labels are double, and
// it has two kinds of error. Method: the model is one number, and a step of rate 1/2 moves it to
// the mean of the labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <rota/trainer.h>

#include "training/thread_ranks.h"

namespace rota {
namespace {

struct Errors {
  double squared = 0;
  double absolute = 0;
  std::size_t samples = 0;
  std::array<double, 2> sums() const { return {squared, absolute}; }
  static Errors from_sums(const std::array<double, 2>& sums, std::size_t samples) {
    return {sums[0], sums[1], samples};
  }
};

class Level {
 public:
  using Element = double;
  using BatchType = std::vector<double>;  // A batch has only labels.
  using ScoreType = Errors;

  std::span<const ParameterInfo> parameters() const { return parameters_; }
  void bind(std::size_t, std::span<double> values, std::span<double> gradient) {
    value_ = values.data();
    gradient_ = gradient.data();
  }
  void initialize(std::uint64_t seed) { *value_ = static_cast<double>(seed); }
  Errors forward(const BatchType& labels) {
    slope_ = 0;
    for (const double label : labels) slope_ += 2 * (*value_ - label);
    return evaluate(labels);
  }
  void backward(const std::function<void(std::size_t)>& gradient_ready, Gradients gradients) {
    *gradient_ = slope_ + (gradients == Gradients::kAdd ? *gradient_ : 0);
    if (gradient_ready) gradient_ready(0);
  }
  Errors evaluate(const BatchType& labels) const {
    Errors errors{.samples = labels.size()};
    for (const double label : labels) {
      errors.squared += (*value_ - label) * (*value_ - label);
      errors.absolute += std::abs(*value_ - label);
    }
    return errors;
  }

 private:
  std::vector<ParameterInfo> parameters_ = {{"level", {1}}};
  double* value_ = nullptr;
  double* gradient_ = nullptr;
  double slope_ = 0;
};

const ReplicaOptions kHalfWay{.optimizer = Sgd{.learning_rate = 0.5}, .seed = 4};

// Rank 0 has two labels in two micro-batches, rank 1 has one label, and rank 2 has none.
TEST(OwnModel, TakesAStepToTheMeanOverTheSamplesOfAllRanks) {
  testing::on_every_rank(3, [](Communicator& communicator) {
    Replica<double, Level> replica(communicator, Level(), kHalfWay);
    const std::array<std::vector<double>, 3> labels = {{{1}, {6}, {}}};
    if (communicator.rank() == 0) replica.accumulate({2});
    const Errors errors = replica.step(labels[communicator.rank()], {});
    EXPECT_EQ(replica.values(0)[0], 3);
    EXPECT_EQ(errors.squared, 9 + 4 + 4);
    EXPECT_EQ(errors.absolute, 3 + 2 + 2);
    EXPECT_EQ(errors.samples, 3u);
    EXPECT_EQ(replica.sum_over_world(replica.evaluate({4})).absolute, 3);
  });
}

// A model with a number that is no parameter, and that it tells the other ranks.
class Rated : public Level {
 public:
  explicit Rated(double rate) : rate_(rate) {}
  std::string settings() const { return "rate " + std::to_string(static_cast<int>(100 * rate_)); }

 private:
  double rate_;
};

TEST(OwnModel, IsRefusedIfItsSettingsDiffer) {
  const auto outcomes = testing::outcomes_of_ranks(3, [](Communicator& communicator) {
    Replica<double, Rated>(communicator, Rated(communicator.rank() == 2 ? 0.5 : 0.25), kHalfWay);
  });
  for (const std::exception_ptr& outcome : outcomes) {
    const Error error = testing::error_of(outcome);
    EXPECT_EQ(error.code(), ErrorCode::kMismatch);
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("rank 2 has model rate 50, but rank 0 has model rate 25"));
  }
  testing::on_every_rank(3, [](Communicator& communicator) {
    Replica<double, Rated>(communicator, Rated(0.25), kHalfWay);
  });
}

TEST(OwnModel, GoesOnFromItsState) {
  Communicator alone{CommunicatorOptions{}};
  Replica<double, Level> first(alone, Level(), kHalfWay);
  first.step({1, 2}, {});
  Replica<double, Level> second(alone, Level(), kHalfWay);
  second.give_state(first.state());
  EXPECT_EQ(second.values(0)[0], 1.5);
}

TEST(OwnModel, EndsWhereItsFirstSumIsNotFinite) {
  Communicator alone{CommunicatorOptions{}};
  Replica<double, Level> replica(alone, Level(), kHalfWay);
  try {
    replica.step({std::numeric_limits<double>::infinity()}, {.epoch = 1, .step = 2});
    FAIL() << "the loss was finite";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFinite);
  }
}

// A hook for the model's own score type gets the score summed over ranks.
TEST(OwnModel, TellsAHookOfItsOwnScore) {
  class Recorder : public BasicTrainingHook<Errors> {
   public:
    void on_epoch(const BasicEpochReport<Errors>& report) override { epochs.push_back(report); }
    std::vector<BasicEpochReport<Errors>> epochs;
  };
  std::vector<Recorder> recorders(2);
  testing::on_every_rank(2, [&](Communicator& communicator) {
    const SampleSource<std::vector<double>> sevens = {
        6, "sevens",
        [](const SampleRun& run) { return std::vector<double>(run.samples.size(), 7); }};
    TrainerOptions options;
    options.batch_size = 3;
    options.optimizer = Sgd{.learning_rate = 0.25};
    options.seed = 3;
    Trainer<double, Level> trainer(communicator, Level(), sevens, sevens, options);
    trainer.add_hook(recorders[communicator.rank()]);
    EXPECT_EQ(trainer.run().test.absolute, 6 * 2);
    EXPECT_EQ(trainer.replica().values(0)[0], 5);
  });
  for (const Recorder& recorder : recorders) {
    ASSERT_EQ(recorder.epochs.size(), 1u);
    EXPECT_EQ(recorder.epochs[0].train.squared, 6 * 16);
    EXPECT_EQ(recorder.epochs[0].train.samples, 6u);
    EXPECT_EQ(recorder.epochs[0].test.squared, 6 * 4);
  }
}

// The message names both data sets.
TEST(OwnModel, RefusesRanksWithOtherSamples) {
  const auto outcomes = testing::outcomes_of_ranks(2, [](Communicator& communicator) {
    SampleSource<std::vector<double>> source{.count = 6, .digest = "sevens", .gather = {}};
    if (communicator.rank() == 1) source.digest = "eights";
    TrainerOptions options;
    options.batch_size = 3;
    Trainer<double, Level>(communicator, Level(), source, source, options);
  });
  for (const std::exception_ptr& outcome : outcomes) {
    EXPECT_EQ(testing::error_of(outcome).code(), ErrorCode::kMismatch);
    EXPECT_THAT(testing::error_of(outcome).what(),
                ::testing::HasSubstr("rank 1 has training set of 6 samples, eights, but rank 0 has "
                                     "training set of 6 samples, sevens"));
  }
}

}  // namespace
}  // namespace rota

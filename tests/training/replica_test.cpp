// Replicas are equal at their start and after every step, or an error says why they cannot be.
#include <rota/replica.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>
#include <set>

#include "kernels/optimizers.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::small_dataset;

template <class T>
Model<T> small_model(std::size_t units = 8) {
  return Model<T>({6, 6, 1}, {dense(units), relu(), dropout(0.25), dense(4)});
}

// The final hashes of all ranks; they must be equal.
class Hashes {
 public:
  void add(std::uint64_t hash) {
    const std::lock_guard lock(mutex_);
    hashes_.insert(hash);
  }
  std::size_t distinct_count() const { return hashes_.size(); }

 private:
  std::mutex mutex_;
  std::set<std::uint64_t> hashes_;
};

TEST(Replica, StartsEveryReplicaWithRank0sParameters) {
  Hashes hashes;
  on_every_rank(3, [&](Communicator& communicator) {
    const ReplicaOptions options{.seed = communicator.rank()};
    hashes.add(Replica<float>(communicator, small_model<float>(), options).weights_hash());
  });
  EXPECT_EQ(hashes.distinct_count(), 1u);
}

// Method: all kernels give the same bits, so the optimizer is asked for the name of its own.
TEST(Replica, UpdatesByTheKernelsOfItsCommunicator) {
  const std::vector<ParameterInfo> parameters = {{"weights", {3, 2}}};
  for (const kernels::Optimizers* row : kernels::Optimizers::table()) {
    if (!row->variant->supported()) continue;
    CommunicatorOptions options;
    options.kernels = row->variant->name;
    Communicator alone(options);
    const ReplicaCore<float> core(alone, parameters, {});
    EXPECT_EQ(core.optimizer().variant(), row->variant->name);
    Communicator part = alone.split(0);
    const ReplicaCore<float> core_of_part(part, parameters, {});
    EXPECT_EQ(core_of_part.optimizer().variant(), row->variant->name);
  }
}

struct StepResult {
  Score score;
  std::vector<std::vector<double>> values;
};

// Trains a few steps on 30 samples. Rank r gets slice_of(30, r, world size).
StepResult train_steps(std::size_t world_size) {
  const Dataset data = small_dataset(30);
  StepResult result;
  on_every_rank(world_size, [&](Communicator& communicator) {
    Replica<double> replica(communicator, small_model<double>(),
                            {.optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.9},
                             .buckets = {.first_bucket_bytes = 64, .bucket_bytes = 512},
                             .seed = 5});
    const Slice share = slice_of(30, communicator.rank(), communicator.world_size());
    std::vector<std::uint64_t> samples;
    for (std::size_t i = 0; i < share.count; ++i) samples.push_back(share.offset + i);
    BatchBuffer<double> buffer(data, 30);
    Score score;
    for (std::size_t step = 0; step < 5; ++step) {
      Batch<double> batch = buffer.gather(samples);
      batch.seed = 1;
      batch.step = step;
      score = replica.step(batch, {.epoch = 1, .step = step + 1});
    }
    if (communicator.rank() != 0) return;
    result.score = score;
    for (std::size_t i = 0; i < replica.model().parameters().size(); ++i) {
      result.values.emplace_back(replica.values(i).begin(), replica.values(i).end());
    }
  });
  return result;
}

// Only rounding differs, since the order of additions differs.
TEST(Replica, TakesTheSameStepsHoweverManyRanksShareTheSamples) {
  const StepResult alone = train_steps(1);
  ASSERT_FALSE(alone.values.empty());
  for (const std::size_t world_size : {2, 3, 4}) {
    const StepResult shared = train_steps(world_size);
    EXPECT_NEAR(shared.score.loss, alone.score.loss, 1e-12);
    EXPECT_EQ(shared.score.correct, alone.score.correct);
    EXPECT_EQ(shared.score.samples, 30u);
    for (std::size_t i = 0; i < alone.values.size(); ++i) {
      EXPECT_THAT(shared.values[i],
                  ::testing::Pointwise(::testing::DoubleNear(1e-12), alone.values[i]));
    }
  }
}

TEST(Replica, SumsScoresOverTheWorld) {
  on_every_rank(3, [](Communicator& communicator) {
    Replica<float> replica(communicator, small_model<float>(), {});
    const std::size_t rank = communicator.rank();
    const Score sum = replica.sum_over_world(
        {.loss = 0.5 + static_cast<double>(rank), .correct = rank, .samples = 10 * rank});
    EXPECT_EQ(sum.loss, 4.5);
    EXPECT_EQ(sum.correct, 3u);
    EXPECT_EQ(sum.samples, 30u);
  });
}

// Makes a replica on each of three ranks. All ranks must get the same error kMismatch, which blames
// rank 2.
void expect_mismatch(const std::function<void(Communicator&)>& make, const std::string& reason) {
  const auto outcomes = outcomes_of_ranks(3, make);
  for (const std::exception_ptr& outcome : outcomes) {
    const Error error = error_of(outcome);
    EXPECT_EQ(error.code(), ErrorCode::kMismatch);
    EXPECT_THAT(error.what(), HasSubstr(reason));
    EXPECT_EQ(error.blamed_rank(), 2u);
  }
}

bool is_odd(const Communicator& communicator) { return communicator.rank() == 2; }

TEST(Replica, RefusesModelsOfOtherShapesOnEveryRank) {
  expect_mismatch(
      [](Communicator& communicator) {
        Replica<float>(communicator, small_model<float>(is_odd(communicator) ? 9 : 8), {});
      },
      "rank 2 has 0.dense.weights [36, 9], but rank 0 has 0.dense.weights [36, 8]");
}

TEST(Replica, RefusesADeeperModelOnEveryRank) {
  expect_mismatch(
      [](Communicator& communicator) {
        std::vector<Layer> layers = {dense(4)};
        if (is_odd(communicator)) layers.push_back(dense(4));
        Replica<float>(communicator, Model<float>({6, 6, 1}, layers), {});
      },
      "rank 2 has 1.dense.weights [4, 4], but rank 0 has no 1.dense.weights");
}

TEST(Replica, RefusesOtherElementsOnEveryRank) {
  expect_mismatch(
      [](Communicator& communicator) {
        if (is_odd(communicator)) {
          Replica<double>(communicator, small_model<double>(), {});
        } else {
          Replica<float>(communicator, small_model<float>(), {});
        }
      },
      "rank 2 has elements of double, but rank 0 has elements of float");
}

TEST(Replica, RefusesAnotherOptimizerOnEveryRank) {
  expect_mismatch(
      [](Communicator& communicator) {
        ReplicaOptions options;
        options.optimizer = Sgd{.learning_rate = is_odd(communicator) ? 0.1 : 0.2};
        Replica<float>(communicator, small_model<float>(), options);
      },
      "rank 2 has optimizer sgd, learning rate 0.1, momentum 0, weight decay 0, "
      "but rank 0 has optimizer sgd, learning rate 0.2, momentum 0, weight decay 0");
}

// A replica divides gradients by the number of samples of all ranks.
TEST(Replica, RefusesBucketsOfMeans) {
  Communicator alone;
  ReplicaOptions options;
  options.buckets.op = ReduceOp::kMean;
  try {
    const Replica<float> replica(alone, small_model<float>(), options);
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("BucketOptions::op must be sum, not mean"));
  }
}

TEST(Replica, RefusesOtherClippingOnEveryRank) {
  expect_mismatch(
      [](Communicator& communicator) {
        ReplicaOptions options;
        options.max_gradient_norm = is_odd(communicator) ? 1 : 0.5;
        Replica<float>(communicator, small_model<float>(), options);
      },
      "rank 2 has largest gradient norm 1, but rank 0 has largest gradient norm 0.5");
}

// Method: the parameters of both models have the same names and shapes.
void expect_other_settings(const Model<float>& usual, const Model<float>& odd) {
  ASSERT_EQ(usual.parameters().size(), odd.parameters().size());
  expect_mismatch(
      [&](Communicator& communicator) {
        const Model<float>& model = is_odd(communicator) ? odd : usual;
        const std::vector<Layer> layers(model.layers().begin(), model.layers().end());
        Replica<float>(communicator, Model<float>(model.input_shape(), layers), {});
      },
      "rank 2 has model " + odd.settings() + ", but rank 0 has model " + usual.settings());
}

TEST(Replica, RefusesLayersWithOtherNumbersOnEveryRank) {
  const auto dropping = [](double rate) {
    return Model<float>({6, 6, 1}, {dense(8), dropout(rate), dense(4)});
  };
  EXPECT_EQ(dropping(0.5).settings(), "6 × 6 × 1, dense 8, dropout 0.5, dense 4");
  expect_other_settings(dropping(0.5), dropping(0.25));
  expect_other_settings(dropping(0.1), dropping(0.1 + 1e-16));
  const auto pooled = [](std::size_t window) {  // To one pixel.
    return Model<float>({6, 6, 1}, {max_pool(window), dense(4)});
  };
  expect_other_settings(pooled(4), pooled(5));
}

TEST(Replica, RefusesOtherLayersAndImagesOnEveryRank) {
  expect_other_settings(Model<float>({6, 6, 1}, {dense(8), relu(), dense(4)}),
                        Model<float>({6, 6, 1}, {dense(8), sigmoid(), dense(4)}));
  expect_other_settings(Model<float>({6, 6, 1}, {dense(8), dense(4)}),
                        Model<float>({6, 6, 1}, {dense(8), dense(4), dropout(0.5)}));
  expect_other_settings(Model<float>({6, 6, 1}, {convolution(2, 3), dense(4)}),
                        Model<float>({4, 9, 1}, {convolution(2, 3), dense(4)}));
}

// The first parameters are those of rank 0, so it makes no difference how a rank would draw them.
TEST(Replica, TakesOtherInitializers) {
  on_every_rank(3, [](Communicator& communicator) {
    const Initializer initializer = is_odd(communicator) ? Initializer::kGlorot : Initializer::kHe;
    Replica<float>(communicator, Model<float>({6, 6, 1}, {dense(4, initializer)}), {});
  });
}

TEST(Replica, RefusesAnythingElseThatWasToBeAgreedOn) {
  expect_mismatch(
      [](Communicator& communicator) {
        ReplicaOptions options;
        options.agreements = {{"batch size", is_odd(communicator) ? "50" : "100"}};
        Replica<float>(communicator, small_model<float>(), options);
      },
      "rank 2 has batch size 50, but rank 0 has batch size 100");
}

// The plan follows the agreements, and ranks compare its name alone.
TEST(Replica, NamesWhatARankDoesNotHaveToAgreeOn) {
  expect_mismatch(
      [](Communicator& communicator) {
        ReplicaOptions options;
        if (!is_odd(communicator)) options.agreements = {{"batch size", "100"}};
        Replica<float>(communicator, small_model<float>(), options);
      },
      "rank 2 has no batch size, but rank 0 has batch size 100");
}

// Method: one rank has a NaN among its inputs, so only that rank's own loss is NaN.
TEST(Replica, SaysWhichRanksLossIsNotANumber) {
  const Dataset data = small_dataset(8);
  const auto outcomes = outcomes_of_ranks(3, [&](Communicator& communicator) {
    Replica<float> replica(communicator, small_model<float>(), {});
    std::vector<float> inputs(8 * 36, 0.5f);
    if (communicator.rank() == 1) inputs[40] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<std::uint64_t> samples = {0, 1, 2, 3, 4, 5, 6, 7};
    Batch<float> batch;
    batch.inputs = inputs;
    batch.labels = data.labels;
    batch.samples = samples;
    replica.step(batch, {.epoch = 3, .step = 17});
  });
  const std::string reason =
      "rank 1: the loss is not a number in step 17 of epoch 3: try a lower learning rate";
  EXPECT_EQ(error_of(outcomes[1]).code(), ErrorCode::kNotFinite);
  EXPECT_EQ(error_of(outcomes[1]).what(), reason);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(error_of(outcomes[rank]).code(), ErrorCode::kAborted);
    EXPECT_THAT(error_of(outcomes[rank]).what(), HasSubstr(reason));
  }
}

TEST(Replica, SaysWhenALossIsInfinite) {
  Communicator alone{CommunicatorOptions{}};
  Replica<float> replica(alone, small_model<float>(), {});
  std::vector<float> inputs(36, std::numeric_limits<float>::max());
  const std::vector<std::uint8_t> labels = {0};
  const std::vector<std::uint64_t> samples = {0};
  Batch<float> batch;
  batch.inputs = inputs;
  batch.labels = labels;
  batch.samples = samples;
  try {
    replica.step(batch, {.epoch = 1, .step = 2});
    FAIL() << "the loss was finite";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFinite);
    EXPECT_THAT(error.what(), HasSubstr("in step 2 of epoch 1"));
  }
}

}  // namespace
}  // namespace rota

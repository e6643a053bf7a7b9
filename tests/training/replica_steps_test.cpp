// Tests steps in which not every rank has exactly one batch, and steps that clip the gradients.
// Method: each step is compared with a serial reference in double: one rank takes one batch with
// all samples. For clipping the reference is an update by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <latch>
#include <numeric>
#include <vector>

#include <rota/replica.h>

#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::on_every_rank;
using testing::small_dataset;
using Samples = std::vector<std::uint64_t>;
using Weights = std::vector<std::vector<double>>;  // Index = parameter.

const Dataset kData = small_dataset(400);
const ReplicaOptions kOptions{
    .optimizer = Sgd{.learning_rate = 0.3, .momentum = 0.9},
    .buckets = {.first_bucket_bytes = 128, .bucket_bytes = 512},
    .seed = 5,
};

// Returns a model with dropout, which must not depend on how samples are distributed. The model has
// both kinds of layers with parameters.
Model<double> small_model() {
  return Model<double>({6, 6, 1}, {convolution(3, 3), relu(), max_pool(2), dense(8), relu(),
                                   dropout(0.25), dense(4)});
}

Samples range(std::size_t first, std::size_t count) {
  Samples samples(count);
  std::iota(samples.begin(), samples.end(), std::uint64_t{first});
  return samples;
}

// A replica that takes samples by their index.
class Worker {
 public:
  explicit Worker(Communicator& communicator, const ReplicaOptions& options = kOptions)
      : replica_(communicator, small_model(), options), buffer_(kData, kData.count()) {}

  void accumulate(const Samples& samples) { replica_.accumulate(batch_of(samples)); }

  Score step(const Samples& samples) {
    const Score score = replica_.step(batch_of(samples), {.epoch = 1, .step = step_ + 1});
    ++step_;
    return score;
  }

  Weights weights() const {
    Weights weights;
    for (std::size_t i = 0; i < replica_.model().parameters().size(); ++i) {
      weights.emplace_back(replica_.values(i).begin(), replica_.values(i).end());
    }
    return weights;
  }

  std::uint64_t hash() const { return replica_.weights_hash(); }

 private:
  Batch<double> batch_of(const Samples& samples) {
    Batch<double> batch = buffer_.gather(samples);
    batch.step = step_;
    return batch;
  }

  Replica<double> replica_;
  BatchBuffer<double> buffer_;
  std::size_t step_ = 0;
};

void expect_near(const Weights& some, const Weights& reference) {
  ASSERT_EQ(some.size(), reference.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_THAT(some[i], ::testing::Pointwise(::testing::DoubleNear(1e-12), reference[i])) << i;
  }
}

// Returns the weights of one rank that takes `batches`, one in each step.
Weights serial(const std::vector<Samples>& batches, std::vector<Score>* scores = nullptr) {
  Communicator communicator{CommunicatorOptions{}};
  Worker worker(communicator);
  for (const Samples& batch : batches) {
    const Score score = worker.step(batch);
    if (scores != nullptr) scores->push_back(score);
  }
  return worker.weights();
}

TEST(MicroBatches, OfAQuarterAreOneBatch) {
  std::vector<Score> scores;
  const Weights reference = serial({range(0, 100), range(100, 100), range(200, 100)}, &scores);
  Communicator communicator{CommunicatorOptions{}};
  Worker worker(communicator);
  for (std::size_t step = 0; step < 3; ++step) {
    for (std::size_t part = 0; part < 3; ++part)
      worker.accumulate(range(100 * step + 25 * part, 25));
    const Score score = worker.step(range(100 * step + 75, 25));
    EXPECT_NEAR(score.loss, scores[step].loss, 1e-10);
    EXPECT_EQ(score.correct, scores[step].correct);
    EXPECT_EQ(score.samples, 100u);
  }
  expect_near(worker.weights(), reference);
}

// Collectives are matched by their order. A collective in accumulate() would be matched with a
// different one on the rank that does not accumulate. Also, the accumulating rank could not go on
// while the other rank waits.
TEST(MicroBatches, CommunicateNothingBeforeTheLast) {
  std::latch accumulated(1);
  const Weights reference = serial({range(0, 100), range(100, 100)});
  on_every_rank(2, [&](Communicator& communicator) {
    Worker worker(communicator);
    for (std::size_t step = 0; step < 2; ++step) {
      if (communicator.rank() == 0) {
        for (std::size_t part = 0; part < 3; ++part) {
          worker.accumulate(range(100 * step + 20 * part, 20));
        }
        if (step == 0) accumulated.count_down();
      } else {
        accumulated.wait();
      }
      worker.step(communicator.rank() == 0 ? range(100 * step + 60, 20)
                                           : range(100 * step + 80, 20));
    }
    expect_near(worker.weights(), reference);
  });
}

TEST(MicroBatches, MayBeFollowedByAnEmptyBatch) {
  const Weights reference = serial({range(0, 50)});
  Communicator communicator{CommunicatorOptions{}};
  Worker worker(communicator);
  worker.accumulate({});
  worker.accumulate(range(0, 50));
  worker.accumulate({});
  EXPECT_EQ(worker.step({}).samples, 50u);
  expect_near(worker.weights(), reference);
}

// The refused batch changes neither the gradients nor the messages to other ranks.
TEST(MicroBatches, SurviveABatchThatDoesNotFit) {
  const Weights reference = serial({range(0, 60)});
  Communicator communicator{CommunicatorOptions{}};
  Replica<double> replica(communicator, small_model(), kOptions);
  BatchBuffer<double> buffer(kData, 60);
  const Samples first = range(0, 30);
  const Samples second = range(30, 30);
  replica.accumulate(buffer.gather(first));
  Batch<double> odd = buffer.gather(second);
  odd.inputs = odd.inputs.first(odd.inputs.size() - 1);
  EXPECT_THROW(replica.accumulate(odd), Error);
  EXPECT_THROW(replica.step(odd, {}), Error);
  EXPECT_EQ(replica.step(buffer.gather(second), {}).samples, 60u);
  for (std::size_t i = 0; i < reference.size(); ++i) {
    EXPECT_THAT(replica.values(i),
                ::testing::Pointwise(::testing::DoubleNear(1e-12), reference[i]));
  }
}

// Each rank knows only its own data: 7, 3 and 0 batches. The last batch of a rank is shorter. The
// epoch ends on all ranks when no rank has data left.
TEST(UnevenData, IsMeantBySamplesAndEndsOnEveryRank) {
  const std::array<std::vector<Samples>, 3> batches = {
      std::vector<Samples>{range(0, 20), range(20, 20), range(40, 20), range(60, 20), range(80, 20),
                           range(100, 20), range(120, 3)},
      std::vector<Samples>{range(200, 10), range(210, 10), range(220, 1)}, std::vector<Samples>{}};
  std::vector<Samples> joined = batches[0];
  for (std::size_t i = 0; i < 3; ++i) {
    joined[i].insert(joined[i].end(), batches[1][i].begin(), batches[1][i].end());
  }
  const Weights reference = serial(joined);
  std::array<std::uint64_t, 3> hashes{};
  on_every_rank(3, [&](Communicator& communicator) {
    Worker worker(communicator);
    const std::vector<Samples>& mine = batches[communicator.rank()];
    for (std::size_t step = 0;; ++step) {
      const Score score = worker.step(step < mine.size() ? mine[step] : Samples{});
      if (score.samples == 0) {
        EXPECT_EQ(step, 7u);
        EXPECT_EQ(score.loss, 0);
        EXPECT_EQ(score.correct, 0u);
        break;
      }
      EXPECT_EQ(score.samples, joined[step].size());
    }
    expect_near(worker.weights(), reference);
    hashes[communicator.rank()] = worker.hash();
  });
  EXPECT_EQ(hashes[1], hashes[0]);
  EXPECT_EQ(hashes[2], hashes[0]);
}

// If a step without samples were done, momentum would still move the parameters, and Adam would
// count the step.
TEST(UnevenData, ChangesNoParameterWhenThereIsNone) {
  for (const OptimizerOptions& optimizer :
       {OptimizerOptions(Sgd{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.1}),
        OptimizerOptions(Adam{})}) {
    ReplicaOptions options = kOptions;
    options.optimizer = optimizer;
    options.max_gradient_norm = 0.1;
    const auto hash_after = [&](int empty_count) {
      Communicator communicator{CommunicatorOptions{}};
      Worker worker(communicator, options);
      worker.step(range(0, 50));
      const std::uint64_t before = worker.hash();
      for (int i = 0; i < empty_count; ++i) EXPECT_EQ(worker.step({}).samples, 0u);
      EXPECT_EQ(worker.hash(), before);
      return worker.hash();
    };
    EXPECT_EQ(hash_after(2), hash_after(0));
  }
}

// The expected step is computed by hand from the same parameters: values - rate · min(1, limit /
// norm) · gradient. The gradient is the change of the values in a step without clipping.
TEST(Clipping, ScalesTheMeanGradientToItsNorm) {
  ReplicaOptions options = kOptions;
  options.optimizer = Sgd{.learning_rate = 1};
  Communicator communicator{CommunicatorOptions{}};
  Worker plain(communicator, options);
  const Weights start = plain.weights();
  plain.step(range(0, 100));
  Weights gradient = plain.weights();
  double square = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    for (std::size_t k = 0; k < start[i].size(); ++k) {
      gradient[i][k] = start[i][k] - gradient[i][k];
      square += gradient[i][k] * gradient[i][k];
    }
  }
  const double norm = std::sqrt(square);
  for (const double share : {0.25, 0.999, 1.001, 100.0}) {
    options.max_gradient_norm = share * norm;
    const double factor = std::min(1.0, share);
    Weights expected = start;
    for (std::size_t i = 0; i < start.size(); ++i) {
      for (std::size_t k = 0; k < start[i].size(); ++k) expected[i][k] -= factor * gradient[i][k];
    }
    for (const std::size_t world_size : {1, 4}) {
      on_every_rank(world_size, [&](Communicator& member) {
        Worker clipped(member, options);
        const Slice share_of_rank = slice_of(100, member.rank(), world_size);
        clipped.step(range(share_of_rank.offset, share_of_rank.count));
        expect_near(clipped.weights(), expected);
      });
    }
  }
}

TEST(Clipping, LeavesTheSameBitsOnEveryRank) {
  std::array<std::uint64_t, 4> hashes{};
  on_every_rank(4, [&](Communicator& communicator) {
    ReplicaOptions options = kOptions;
    options.max_gradient_norm = 0.05;
    Worker worker(communicator, options);
    const std::size_t rank = communicator.rank();
    for (std::size_t step = 0; step < 5; ++step) {
      worker.step(range(step * 60 + rank * 15, 15 - 5 * rank));
    }
    hashes[rank] = worker.hash();
  });
  EXPECT_THAT(hashes, ::testing::Each(hashes[0]));
}

// Method: the inputs are so large that the square of the gradient is not finite, though the loss
// is. The model is wrong about one of two equal inputs, so there is a gradient.
TEST(Clipping, RefusesAGradientWithoutANorm) {
  Communicator communicator{CommunicatorOptions{}};
  ReplicaOptions options;
  options.max_gradient_norm = 1;
  Replica<double> replica(communicator, Model<double>({1, 1, 1}, {dense(2)}), options);
  const std::vector<double> inputs = {1e200, 1e200};
  const std::vector<std::uint8_t> labels = {0, 1};
  Batch<double> batch;
  batch.inputs = inputs;
  batch.labels = labels;
  try {
    replica.step(batch, {.epoch = 2, .step = 9});
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFinite);
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("the norm of the gradient is infinite in step 9 of epoch 2"));
  }
}

// With a learning rate of 1, a step subtracts the mean gradient.
TEST(Gradients, OfTheLastStepAreSumsOverTheSamplesOfAllRanks) {
  on_every_rank(3, [](Communicator& communicator) {
    Replica<double> replica(communicator, small_model(),
                            {.optimizer = Sgd{.learning_rate = 1}, .seed = 5});
    BatchBuffer<double> buffer(kData, kData.count());
    for (std::size_t step = 0; step < 2; ++step) {
      Weights before;
      for (std::size_t i = 0; i < replica.model().parameters().size(); ++i) {
        before.emplace_back(replica.values(i).begin(), replica.values(i).end());
      }
      const Score score =
          replica.step(buffer.gather(range(40 * step, communicator.rank() + 1)), {});
      ASSERT_EQ(score.samples, 6u);
      const std::vector<NamedTensor> gradients = replica.gradients();
      ASSERT_EQ(gradients.size(), before.size());
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        EXPECT_EQ(gradients[i].name, replica.model().parameters()[i].name);
        ASSERT_EQ(gradients[i].values.count(), before[i].size());
        const auto* sums = reinterpret_cast<const double*>(gradients[i].values.data());
        for (std::size_t k = 0; k < before[i].size(); ++k) {
          ASSERT_NEAR(before[i][k] - replica.values(i)[k], sums[k] / 6, 1e-12);
        }
      }
    }
  });
}

}  // namespace
}  // namespace rota

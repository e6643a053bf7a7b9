// Training gives the same weights, bit for bit, wherever the gradients of a rank lie. Method: four
// ranks, as threads, train the model mlp on MNIST. Products are those of the host. Ranks 1 and 2
// copy each gradient to the fake device, and each sum back.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <rota/communicator.h>
#include <rota/dataset.h>
#include <rota/device_gradient_buckets.h>
#include <rota/gradient_buckets.h>
#include <rota/idx.h>
#include <rota/model.h>
#include <rota/optimizer.h>

#include "communicator/thread_world.h"
#include "memory/host_block.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/paths.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::FakeDevice;

constexpr std::size_t kTrainers = 4;
constexpr std::size_t kBatch = 100;  // Samples of a rank in a step.
constexpr BucketOptions kBuckets{.bucket_bytes = std::size_t{1} << 20};

// How ranks sum gradients.
struct SumWay {
  std::string_view transport;
  std::string plan;
  Codec codec;
};

std::vector<Communicator> trainers_of(const SumWay& way) {
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(60);
  options.plan = way.plan;
  options.codec = way.codec;
  if (way.transport == "tcp") return testing::tcp_world_of(kTrainers, options);
  return ThreadWorld::make({.world_size = kTrainers, .communicator = options});
}

const Dataset& images() {
  static const TrainAndTest kAll = read_idx_folder(testing::source_path("examples/mnist/data"));
  return kAll.train;
}

// One rank's model. The model computes gradients in memory of its own, and later finds the sums
// there.
class RankTraining {
 public:
  explicit RankTraining(std::uint64_t seed)
      : model_(images().shape,
               {dense(512), relu(), dense(512), relu(), dense(10, Initializer::kGlorot)}) {
    for (const ParameterInfo& parameter : model_.parameters()) counts_.push_back(parameter.count());
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      values_.push_back(memory::allocate_host(counts_[i] * sizeof(float)));
      gradients_.push_back(memory::allocate_host(counts_[i] * sizeof(float)));
      model_.bind(i, floats_in(values_[i]), floats_in(gradients_[i]));
    }
    model_.initialize(seed);
    optimizer_.emplace(Sgd{.learning_rate = 0.15, .momentum = 0.9}, counts_);
  }

  void train_in_host_memory(Communicator& comm, std::size_t samples) {
    GradientBuckets<float> buckets(comm, counts_, kBuckets);
    const auto give = [](std::span<float> bucket, std::span<const float> own) {
      std::memcpy(bucket.data(), own.data(), own.size_bytes());
    };
    const auto take = [](std::span<float> own, std::span<const float> bucket) {
      std::memcpy(own.data(), bucket.data(), own.size_bytes());
    };
    train(comm, buckets, samples, give, take);
  }

  void train_on_device(Communicator& comm, std::size_t samples, std::uint8_t device) {
    DeviceGradientBuckets<float> buckets(comm, counts_, kBuckets, device);
    const auto give = [](DeviceSpan<float> bucket, std::span<const float> own) {
      copy_to_device(bucket, own);
    };
    const auto take = [](std::span<float> own, DeviceSpan<float> bucket) {
      copy_from_device(own, bucket);
    };
    train(comm, buckets, samples, give, take);
  }

  std::vector<float> weights() const {
    std::vector<float> all;
    for (const Block& block : values_) {
      const auto values = floats_in(block);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  // Returns which part of the first samples the model knows.
  double accuracy() {
    BatchBuffer<float> buffer(images(), 1000);
    std::vector<std::uint64_t> some(1000);
    std::iota(some.begin(), some.end(), 0);
    return static_cast<double>(model_.evaluate(buffer.gather(some)).correct) / 1000;
  }

 private:
  static std::span<float> floats_in(const Block& block) {
    return {reinterpret_cast<float*>(block.bytes().data()), block.bytes().size() / sizeof(float)};
  }

  // give(bucket, own) copies a gradient into its bucket, and take(own, bucket) copies its sum back.
  template <class Buckets, class Give, class Take>
  void train(Communicator& comm, Buckets& buckets, std::size_t samples, Give give, Take take) {
    BatchBuffer<float> buffer(images(), kBatch);
    std::vector<std::uint64_t> own(kBatch);
    for (std::size_t first = 0; first < samples; first += kTrainers * kBatch) {
      std::iota(own.begin(), own.end(), first + comm.rank() * kBatch);
      const Score score = model_.forward(buffer.gather(own));
      buckets.begin_step(kBatch, score.sums());
      buckets.send_sums();
      model_.backward([&](std::size_t i) {
        give(buckets.gradient(i), floats_in(gradients_[i]));
        buckets.ready(i);
      });
      buckets.wait();
      optimizer_->begin_step();
      const float scale = 1 / static_cast<float>(buckets.world_sample_count());
      for (std::size_t i = 0; i < counts_.size(); ++i) {
        const std::span<float> gradient = floats_in(gradients_[i]);
        take(gradient, buckets.gradient(i));
        optimizer_->update(i, floats_in(values_[i]), gradient, scale);
      }
    }
  }

  Model<float> model_;
  std::vector<std::size_t> counts_;
  std::vector<Block> values_;
  std::vector<Block> gradients_;
  std::optional<Optimizer<float>> optimizer_;
};

// Returns the weights of each rank after training. `mixes`: the gradients of ranks 1 and 2 are on
// devices.
std::vector<std::vector<float>> weights_after(const SumWay& way, std::size_t samples, bool mixes) {
  FakeDevice fake;
  auto world = trainers_of(way);
  std::vector<std::vector<float>> weights(kTrainers);
  testing::on_every_rank(world, [&](Communicator& comm) {
    RankTraining training(7);
    if (mixes && (comm.rank() == 1 || comm.rank() == 2)) {
      training.train_on_device(comm, samples, comm.rank() == 1 ? 0 : 1);
    } else {
      training.train_in_host_memory(comm, samples);
    }
    EXPECT_GT(training.accuracy(), 0.3) << "the model has learnt nothing";
    weights[comm.rank()] = training.weights();
  });
  EXPECT_EQ(fake.crime(), "");
  return weights;
}

class MixedTraining : public ::testing::TestWithParam<std::tuple<Codec, std::size_t>> {};

TEST_P(MixedTraining, GivesTheWeightsOfTheHost) {
  const auto [codec, samples] = GetParam();
  const auto expected = weights_after({"tcp", "ring", codec}, samples, false);
  for (const SumWay& way : {SumWay{"tcp", "ring", codec}, SumWay{"shm", "auto", codec}}) {
    const auto weights = weights_after(way, samples, true);
    for (std::size_t rank = 0; rank < kTrainers; ++rank) {
      ASSERT_EQ(weights[rank].size(), expected[0].size());
      EXPECT_EQ(
          std::memcmp(weights[rank].data(), expected[0].data(), expected[0].size() * sizeof(float)),
          0)
          << way.transport << ", " << way.plan << ", rank " << rank;
    }
  }
}

#if defined(ROTA_IS_SANITIZED)
constexpr std::size_t kSamples[] = {6000};  // An epoch takes minutes.
#else
constexpr std::size_t kSamples[] = {6000, 60'000};  // 60,000 are an epoch.
#endif

INSTANTIATE_TEST_SUITE_P(Ways, MixedTraining,
                         ::testing::Combine(::testing::Values(Codec::kIdentity, Codec::kInt8),
                                            ::testing::ValuesIn(kSamples)),
                         [](const auto& way) {
                           return std::string(to_string(std::get<0>(way.param))) + "_" +
                                  std::to_string(std::get<1>(way.param));
                         });

}  // namespace
}  // namespace rota

// Gradients on a device and gradients in host memory are summed together, to the same bits, step
// after step, also by a codec that keeps what it has lost.
#include <rota/device_gradient_buckets.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/training_state.h>

#include "device/own_stream.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeDevice;
using testing::OwnStream;

constexpr std::size_t kBucketRanks = 4;
constexpr int kBucketSteps = 3;
// The buckets are of several sizes; only large ones are coded.
const std::vector<std::size_t> kGradientCounts = {3, 20'011, 1, 0, 40'000, 17, 33'003, 5};
const BucketOptions kBucketOptions{.first_bucket_bytes = 4096, .bucket_bytes = 160 * 1024};

bool has_buckets_on_device(std::size_t rank) { return rank == 1 || rank == 2; }

// What a rank has after each step.
struct StepOutcome {
  std::vector<std::vector<float>> gradients;
  std::uint64_t samples = 0;
  std::vector<double> sums;
};
struct Outcome {
  std::vector<StepOutcome> steps;
  State state;
};

std::vector<float> gradient_of(std::size_t rank, int step, std::size_t index) {
  std::mt19937 random(static_cast<unsigned>(rank * 10'007 + index * 101) + 31U * unsigned(step));
  std::normal_distribution<float> distribution;
  std::vector<float> gradient(kGradientCounts[index]);
  for (float& value : gradient) value = distribution(random);
  return gradient;
}

// Runs the steps of a rank. `write` and `read` move a gradient in and out of the buckets.
template <class Buckets, class Write, class Read>
Outcome run_steps(Buckets& buckets, std::size_t rank, Write write, Read read) {
  Outcome outcome;
  for (int step = 0; step < kBucketSteps; ++step) {
    const double score = 0.5 * static_cast<double>(rank);
    buckets.begin_step(rank + 1, std::span(&score, 1));
    for (std::size_t index = kGradientCounts.size(); index-- > 0;) {
      write(index, gradient_of(rank, step, index));
      buckets.ready(index);
    }
    buckets.wait();
    StepOutcome& own = outcome.steps.emplace_back();
    for (std::size_t index = 0; index < kGradientCounts.size(); ++index) {
      own.gradients.push_back(read(index));
    }
    own.samples = buckets.world_sample_count();
    own.sums.assign(buckets.world_sums().begin(), buckets.world_sums().end());
  }
  outcome.state = copy_state([&](StateVisitor& visitor) { buckets.visit_state(visitor); });
  return outcome;
}

template <class To, class From>
std::vector<To> converted(std::span<From> values) {
  std::vector<To> result;
  for (const From& value : values) result.push_back(static_cast<To>(value));
  return result;
}

template <class T>
Outcome run_on_host(Communicator& comm, const BucketOptions& options) {
  GradientBuckets<T> buckets(comm, kGradientCounts, options);
  return run_steps(
      buckets, comm.rank(),
      [&](std::size_t index, const std::vector<float>& values) {
        std::ranges::copy(converted<T>(std::span(values)), buckets.gradient(index).begin());
      },
      [&](std::size_t index) { return converted<float>(buckets.gradient(index)); });
}

template <class T>
Outcome run_on_device(FakeDevice& fake, Communicator& comm, const BucketOptions& options) {
  const std::uint8_t device = comm.rank() == 1 ? 0 : 1;
  DeviceGradientBuckets<T> buckets(comm, kGradientCounts, options, device);
  return run_steps(
      buckets, comm.rank(),
      [&](std::size_t index, const std::vector<float>& values) {
        fake.write(buckets.gradient(index), converted<T>(std::span(values)));
      },
      [&](std::size_t index) {
        const std::vector<T> gradient = fake.read(buckets.gradient(index));
        return converted<float>(std::span(gradient));
      });
}

std::vector<Communicator> ring_world_of(
    std::size_t size, std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  CommunicatorOptions options;
  options.plan = "ring";
  options.deadline = deadline;
  return testing::tcp_world_of(size, options);
}

template <class T>
std::vector<Outcome> outcomes_of(FakeDevice& fake, const BucketOptions& options, bool mixes) {
  auto world = ring_world_of(kBucketRanks);
  std::vector<Outcome> outcomes(kBucketRanks);
  testing::on_every_rank(world, [&](Communicator& comm) {
    outcomes[comm.rank()] = mixes && has_buckets_on_device(comm.rank())
                                ? run_on_device<T>(fake, comm, options)
                                : run_on_host<T>(comm, options);
  });
  return outcomes;
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Runs all ranks with gradients in host memory, and then with those of two ranks on the device.
template <class T>
void expect_the_bits_of_the_host(const BucketOptions& options) {
  FakeDevice fake;
  const auto host = outcomes_of<T>(fake, options, false);
  const auto mixed = outcomes_of<T>(fake, options, true);
  for (std::size_t rank = 0; rank < kBucketRanks; ++rank) {
    for (std::size_t step = 0; step < kBucketSteps; ++step) {
      SCOPED_TRACE("rank " + std::to_string(rank) + ", step " + std::to_string(step));
      const StepOutcome& here = host[rank].steps[step];
      const StepOutcome& there = mixed[rank].steps[step];
      for (std::size_t index = 0; index < kGradientCounts.size(); ++index) {
        expect_same_bits(here.gradients[index], there.gradients[index]);
      }
      EXPECT_EQ(there.samples, 10U);
      EXPECT_EQ(there.sums, std::vector<double>{3});
    }
    EXPECT_EQ(host[rank].state, mixed[rank].state);
  }
  EXPECT_EQ(fake.crime(), "");
}

class DeviceBuckets : public ::testing::TestWithParam<Codec> {};

TEST_P(DeviceBuckets, HaveTheBitsOfBucketsInHostMemory) {
  BucketOptions options = kBucketOptions;
  options.codec = GetParam();
  expect_the_bits_of_the_host<float>(options);
}

TEST(DeviceBucketsOfHalves, HaveTheBitsOfBucketsInHostMemory) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean}) {
    SCOPED_TRACE(to_string(op));
    BucketOptions options = kBucketOptions;
    options.op = op;
    expect_the_bits_of_the_host<Float16>(options);
    expect_the_bits_of_the_host<Bfloat16>(options);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, DeviceBuckets,
                         ::testing::Values(Codec::kIdentity, Codec::kInt8, Codec::kInt8Stochastic,
                                           Codec::kTopK),
                         [](const auto& codec) {
                           std::string name(to_string(codec.param));
                           std::erase(name, '-');
                           return name;
                         });

// Two ranks in this thread: rank 0 has its gradient on a device.
class TwoBuckets : public ::testing::Test {
 protected:
  static constexpr std::size_t kCount = 20'000;

  static void fill(GradientBuckets<float>& buckets, float value) {
    std::ranges::fill(buckets.gradient(0), value);
    buckets.ready(0);
  }

  FakeDevice fake_;
  std::vector<std::size_t> counts_ = {kCount};
  std::vector<Communicator> world_ = ring_world_of(2);
};

// The host waits for no bucket: it puts the steps of a training run on a stream.
TEST_F(TwoBuckets, FollowAStreamStepAfterStep) {
  OwnStream stream;
  const Block result = testing::pinned(kCount, 0);
  DeviceGradientBuckets<float> there(world_[0], counts_);
  GradientBuckets<float> here(world_[1], counts_);
  there.set_stream(stream.get());
  for (int step = 0; step < 5; ++step) {
    const Block own = testing::pinned(kCount, static_cast<float>(step));
    stream.shut();
    there.begin_step(1);
    stream.write(there.gradient(0), own);
    there.ready(0);
    there.wait_on(0, stream.get());
    stream.read(result, there.gradient(0));
    here.begin_step(1);
    fill(here, 10);
    stream.open();
    here.wait();
    ASSERT_TRUE(stream.becomes_idle());
    ASSERT_EQ(testing::floats_of(result),
              std::vector<float>(kCount, 10 + static_cast<float>(step)));
  }
  there.wait();
  EXPECT_EQ(fake_.crime(), "");
}

TEST_F(TwoBuckets, ContinueWithTheStateOfBucketsInHostMemory) {
  BucketOptions options;
  options.codec = Codec::kInt8;
  options.first_bucket_bytes = 1 << 20;
  const std::vector<std::size_t> counts = {40'000};
  State state;
  {
    DeviceGradientBuckets<float> there(world_[0], counts, options);
    GradientBuckets<float> here(world_[1], counts, options);
    there.begin_step(1);
    fake_.write(there.gradient(0), std::vector<float>(counts[0], 0.3F));
    here.begin_step(1);
    there.ready(0);
    for (std::size_t i = 0; i < counts[0]; ++i) here.gradient(0)[i] = static_cast<float>(i % 13);
    here.ready(0);
    there.wait();
    here.wait();
    state = copy_state([&](StateVisitor& visitor) { here.visit_state(visitor); });
  }
  DeviceGradientBuckets<float> there(world_[0], counts, options);
  const auto visit = [&](StateVisitor& visitor) { there.visit_state(visitor); };
  EXPECT_NE(copy_state(visit), state);
  write_state(state, visit);
  EXPECT_EQ(copy_state(visit), state);
}

// With int8, a NaN makes its whole block NaN, and so the values between two gradients.
TEST_F(TwoBuckets, HaveZerosBetweenGradientsAfterAStepThatWasNotFinite) {
  const std::vector<std::size_t> counts = {20'003, 20'001};
  const BucketOptions options{.first_bucket_bytes = 1 << 20, .codec = Codec::kInt8};
  for (const bool has_stream : {false, true}) {
    OwnStream stream;
    DeviceGradientBuckets<float> there(world_[0], counts, options);
    GradientBuckets<float> here(world_[1], counts, options);
    if (has_stream) there.set_stream(stream.get());
    for (const float last : {std::numeric_limits<float>::infinity(), 0.5F}) {
      there.begin_step(1);
      here.begin_step(1);
      for (const std::size_t index : {std::size_t{1}, std::size_t{0}}) {
        std::vector<float> gradient(counts[index], 0.5F);
        gradient.back() = last;
        fake_.write(there.gradient(index), gradient);
        there.ready(index);
        std::ranges::copy(gradient, here.gradient(index).begin());
        here.ready(index);
      }
      here.wait();
      there.wait();
    }
    ASSERT_TRUE(stream.becomes_idle());
    const auto values = fake_.read(there.bucket_values(0));
    EXPECT_TRUE(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }));
    expect_same_bits(values, {here.bucket_values(0).begin(), here.bucket_values(0).end()});
  }
  EXPECT_EQ(fake_.crime(), "");
}

TEST_F(TwoBuckets, GiveTheirStateAfterAStreamHasWaited) {
  OwnStream stream;
  DeviceGradientBuckets<float> there(world_[0], counts_);
  GradientBuckets<float> here(world_[1], counts_);
  there.begin_step(1);
  there.ready(0);
  here.begin_step(1);
  fill(here, 10);
  EXPECT_EQ(there.world_sample_count(), 2U);
  there.wait_on(0, stream.get());
  here.wait();
  const State state = copy_state([&](StateVisitor& visitor) { there.visit_state(visitor); });
  EXPECT_EQ(state, copy_state([&](StateVisitor& visitor) { here.visit_state(visitor); }));
  EXPECT_TRUE(stream.becomes_idle());
}

TEST_F(TwoBuckets, SayWhatHasFailedAfterAStreamHasWaited) {
  auto world = ring_world_of(2, std::chrono::milliseconds(300));
  OwnStream stream;
  DeviceGradientBuckets<float> there(world[0], counts_);
  there.begin_step(1);
  there.ready(0);
  there.wait_on(0, stream.get());
  EXPECT_TRUE(stream.becomes_idle());
  const auto error = error_of([&] { there.begin_step(1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kTimeout) << error->what();
}

TEST_F(TwoBuckets, RefuseWhatGradientBucketsRefuse) {
  DeviceGradientBuckets<float> there(world_[0], counts_);
  const auto refusal = [](auto call) {
    const auto error = error_of(call);
    return error ? std::string(error->what()) : std::string();
  };
  there.begin_step(1);
  EXPECT_EQ(refusal([&] { there.ready(1); }),
            "there is no gradient 1: there are 1 gradients, numbered from 0");
  EXPECT_EQ(refusal([&] { there.wait(0); }),
            "bucket 0 was not sent: gradient 0 of bucket 0 was not marked ready: call ready() for "
            "each gradient in each step");
  EXPECT_EQ(refusal([&] { there.wait_on(1, nullptr); }),
            "there is no bucket 1: there are 1 buckets, numbered from 0");
  there.ready(0);
  EXPECT_EQ(refusal([&] { there.ready(0); }), "gradient 0 was marked ready twice in one step");
  EXPECT_NE(refusal([&] { there.begin_step(1); }), "");
  GradientBuckets<float> here(world_[1], counts_);
  here.begin_step(1);
  fill(here, 1);
  here.wait();
  there.wait();
}

}  // namespace
}  // namespace rota

// Runs the two kinds of training, and times their steps.
#include "overlap/contest.h"

#include <rota/dataset.h>
#include <rota/gradient_buckets.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <stdexcept>

#include "overlap/digits.h"
#include "overlap/training.h"
#include "turns.h"

namespace rota::bench {
namespace {

constexpr std::array<double, 2> kScore{};  // Two sums, sent together with the sample count.
constexpr BucketOptions kOneBucket{.first_bucket_bytes = std::numeric_limits<std::size_t>::max(),
                                   .bucket_bytes = std::numeric_limits<std::size_t>::max()};

TrainingSettings settings_of(const ContestOptions& options, const BucketOptions& buckets) {
  return {.model = "lenet",
          .batch_size = options.batch_size,
          .buckets = buckets,
          .agreements = {{"steps", std::to_string(options.steps)},
                         {"rounds", std::to_string(options.rounds)}}};
}

// Returns the sizes of the gradients that a replica sends.
std::vector<std::size_t> gradient_counts(const Model<float>& model) {
  std::vector<std::size_t> counts;
  for (const ParameterInfo& parameter : model.parameters()) counts.push_back(parameter.count());
  return counts;
}

// Sends what a training step sends, without computing anything. Sums of zeros stay zero.
void send_all(GradientBuckets<float>& gradients, std::size_t count) {
  gradients.begin_step(0, kScore);
  for (std::size_t index = count; index-- > 0;) gradients.ready(index);
  gradients.wait();
}

AllRanks all_ranks_of(Communicator& communicator) {
  return {[&] { communicator.barrier(); },
          [&](double value) {
            communicator.all_reduce(std::span(&value, 1), ReduceOp::kMax);
            return value;
          }};
}

void require_same_weights(const ContestResult& result) {
  constexpr std::size_t kLargestWithOneOrder = 2;  // Two terms have the same sum in any order.
  if (result.ranks > kLargestWithOneOrder || result.overlapped_hash == result.at_end_hash) return;
  throw std::runtime_error(
      "overlap: the weights differ from those after training with gradients sent at the end");
}

}  // namespace

ContestResult run_contest(Communicator& communicator, const ContestOptions& options) {
  const Dataset digits = make_digits(kBatches * options.batch_size,
                                     static_cast<std::uint32_t>(communicator.rank() + 1));
  Communicator alone{CommunicatorOptions{}};
  Training overlapped(communicator, digits, settings_of(options, {}));
  Training at_end(communicator, digits, settings_of(options, kOneBucket));
  Training compute(alone, digits, settings_of(options, {}));
  const std::vector<std::size_t> counts = gradient_counts(model_for(digits, "lenet"));
  GradientBuckets<float> gradients(communicator, counts, kOneBucket);

  ContestResult result{
      .options = options,
      .transport = communicator.rank_table().transport,
      .ranks = communicator.world_size(),
      .gradient_bytes = gradients.layout().buckets.front().count * sizeof(float),
      .bucket_count =
          lay_out_buckets(counts, sizeof(float), {}, communicator.world_size()).buckets.size()};
  ContestTimes& times = result.times;
  const std::array<Contestant, 4> contestants = {{
      {repeated([&] { overlapped.step(); }), &times.overlapped},
      {repeated([&] { at_end.step(); }), &times.at_end},
      {repeated([&] { compute.step(); }), &times.compute},
      {repeated([&] { send_all(gradients, counts.size()); }), &times.communication},
  }};
  take_turns(all_ranks_of(communicator), contestants, options.steps, options.rounds);
  result.overlapped_hash = overlapped.weights_hash();
  result.at_end_hash = at_end.weights_hash();
  require_same_weights(result);
  return result;
}

}  // namespace rota::bench

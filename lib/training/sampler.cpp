// Shuffles the samples, and deals them to ranks.
#include <rota/sampler.h>

#include <algorithm>
#include <numeric>
#include <string>

#include <rota/error.h>

#include "base/assert.h"
#include "base/counted.h"
#include "training/shuffle.h"

namespace rota {

ShardedSampler::ShardedSampler(const SamplerOptions& options) : options_(options) {
  const auto& [sample_count, batch_size, rank, world_size, seed, window, shards] = options;
  if (rank >= world_size) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "rank " + std::to_string(rank) + " is not in a world of " + std::to_string(world_size));
  }
  if (sample_count < world_size) {
    throw Error(ErrorCode::kInvalidArgument,
                "a data set of " + base::counted_samples(sample_count) +
                    " is too small for a world of " + std::to_string(world_size) +
                    ", as each rank needs a sample: start fewer ranks, or take more samples");
  }
  const std::size_t share = sample_count / world_size;
  if (batch_size == 0 || batch_size > share) {
    throw Error(ErrorCode::kInvalidArgument, "batch size " + std::to_string(batch_size) +
                                                 ": expected 1 to " + std::to_string(share) +
                                                 ", a rank's share of " +
                                                 base::counted_samples(sample_count) +
                                                 " in a world of " + std::to_string(world_size));
  }
  const std::size_t in_shards = std::accumulate(shards.begin(), shards.end(), std::size_t{0});
  if (!shards.empty() && in_shards != sample_count) {
    throw Error(ErrorCode::kInvalidArgument, "the shards have " + base::counted_samples(in_shards) +
                                                 ", but the data set has " +
                                                 std::to_string(sample_count));
  }
  if (window > 0) {
    windowed_.emplace(window, shards.empty() ? std::span(&sample_count, 1) : std::span(shards),
                      seed);
    batch_.resize(batch_size);
    return;
  }
  order_.resize(sample_count);
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
}

std::size_t ShardedSampler::step_count() const noexcept {
  const std::size_t world_batch = options_.batch_size * options_.world_size;
  return (options_.sample_count + world_batch - 1) / world_batch;
}

void ShardedSampler::shuffle(std::uint64_t epoch) noexcept {
  if (windowed_) {
    windowed_->shuffle(epoch);
    return;
  }
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
  training::shuffle(order_,
                    training::order_key(options_.seed, training::OrderStream::kSamples, epoch));
}

std::span<const std::uint64_t> ShardedSampler::batch(std::size_t step) const noexcept {
  ROTA_ASSERT(step < step_count());
  return batch_at(samples_before(step));
}

std::span<const std::uint64_t> ShardedSampler::batch_at(std::uint64_t sample) const noexcept {
  const Slice share = slice_of(world_batch_count_at(sample), options_.rank, options_.world_size);
  const std::size_t first = static_cast<std::size_t>(sample) + share.offset;
  if (!windowed_) return std::span(order_).subspan(first, share.count);
  const auto batch = std::span(batch_).first(share.count);
  windowed_->copy(first, batch);
  return batch;
}

std::size_t ShardedSampler::samples_before(std::size_t step) const noexcept {
  return std::min(step * options_.batch_size * options_.world_size, options_.sample_count);
}

std::size_t ShardedSampler::step_at(std::uint64_t sample) const noexcept {
  if (sample >= options_.sample_count) return step_count();
  return static_cast<std::size_t>(sample / (options_.batch_size * options_.world_size));
}

std::size_t ShardedSampler::world_batch_count(std::size_t step) const noexcept {
  ROTA_ASSERT(step < step_count());
  return world_batch_count_at(samples_before(step));
}

std::size_t ShardedSampler::world_batch_count_at(std::uint64_t sample) const noexcept {
  ROTA_ASSERT(sample < options_.sample_count);
  return std::min(options_.batch_size * options_.world_size,
                  options_.sample_count - static_cast<std::size_t>(sample));
}

}  // namespace rota

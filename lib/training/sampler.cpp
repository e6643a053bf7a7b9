// Shuffling and dealing out of samples.
#include <rota/sampler.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "nn/random.h"

namespace rota {
namespace {

// Keeps the numbers apart from those that dropout draws with the same seed.
constexpr std::uint32_t kShuffles = 3;

// A position below `bound`, each with the same probability.
std::uint64_t draw(std::uint64_t key, std::uint64_t bound) noexcept {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t limit =
      kLargest - kLargest % bound;  // Beyond it, low ones would be likelier.
  for (std::uint32_t attempt = 0;; ++attempt) {
    const nn::RandomBlock random = nn::philox(
        key,
        {static_cast<std::uint32_t>(bound), static_cast<std::uint32_t>(bound >> 32), attempt, 0});
    const std::uint64_t value = nn::join(random[0], random[1]);
    if (value < limit) return value % bound;
  }
}

}  // namespace

ShardedSampler::ShardedSampler(const SamplerOptions& options) : options_(options) {
  const auto [sample_count, batch_size, rank, world_size, seed] = options;
  if (rank >= world_size) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "rank " + std::to_string(rank) + " is not in a world of " + std::to_string(world_size));
  }
  const std::size_t share = sample_count / world_size;
  if (batch_size == 0 || batch_size > share) {
    throw Error(ErrorCode::kInvalidArgument,
                "batch size " + std::to_string(batch_size) + ": expected 1 to " +
                    std::to_string(share) + ", a rank's share of " + std::to_string(sample_count) +
                    " samples in a world of " + std::to_string(world_size));
  }
  order_.resize(sample_count);
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
}

std::size_t ShardedSampler::step_count() const noexcept {
  const std::size_t world_batch = options_.batch_size * options_.world_size;
  return (options_.sample_count + world_batch - 1) / world_batch;
}

void ShardedSampler::shuffle(std::uint64_t epoch) noexcept {
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
  const nn::RandomBlock epoch_key = nn::philox(
      options_.seed,
      {static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(epoch >> 32), 0, kShuffles});
  const std::uint64_t key = nn::join(epoch_key[0], epoch_key[1]);
  for (std::size_t bound = order_.size(); bound > 1; --bound) {  // Fisher and Yates.
    std::swap(order_[bound - 1], order_[static_cast<std::size_t>(draw(key, bound))]);
  }
}

std::span<const std::uint64_t> ShardedSampler::batch(std::size_t step) const noexcept {
  const std::size_t begin = step * options_.batch_size * options_.world_size;
  const Slice share = slice_of(world_batch_count(step), options_.rank, options_.world_size);
  return std::span(order_).subspan(begin + share.offset, share.count);
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
  const std::size_t world_batch = options_.batch_size * options_.world_size;
  return std::min(world_batch, options_.sample_count - step * world_batch);
}

}  // namespace rota

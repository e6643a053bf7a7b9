// Which samples each rank trains on, step by step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/export.h>
#include <rota/values.h>

namespace rota {

struct SamplerOptions {
  std::size_t sample_count = 0;
  std::size_t batch_size = 0;  // A rank's share of a step.
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::uint64_t seed = 0;
};

// Shuffles the samples anew for each epoch and deals them out: a step covers the next
// world_size × batch_size positions of the shuffled order, rank r the r-th run of them. So one rank
// with batches of 400 and four ranks with batches of 100 see the same samples in every step. The
// last step of an epoch deals out what is left, evenly: a rank may get none. Nothing is
// communicated: the order is a function of the options. One thread at a time.
class ROTA_EXPORT ShardedSampler {
 public:
  // Throws Error kInvalidArgument when batch_size is 0 or more than sample_count / world_size, or
  // rank is not below world_size.
  explicit ShardedSampler(const SamplerOptions& options);

  // In an epoch.
  std::size_t step_count() const noexcept;

  // Draws the order of an epoch: a function of (seed, epoch, sample_count) alone, the same on every
  // machine. Until the first call the samples lie in their own order. Allocates nothing.
  void shuffle(std::uint64_t epoch) noexcept;

  // This rank's samples in `step`, and how many samples all ranks together have there.
  // Both require step < step_count(). The span is valid until the next shuffle.
  std::span<const std::uint64_t> batch(std::size_t step) const noexcept;
  std::size_t world_batch_count(std::size_t step) const noexcept;

  // How many samples all ranks together have in the steps before `step` of an epoch, and the step
  // that has that sample of the epoch's order: step_count() at its end, and behind it.
  std::size_t samples_before(std::size_t step) const noexcept;
  std::size_t step_at(std::uint64_t sample) const noexcept;

 private:
  SamplerOptions options_;
  std::vector<std::uint64_t> order_;
};

}  // namespace rota

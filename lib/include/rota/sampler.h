// Decides which samples each rank trains on in each step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <rota/export.h>
#include <rota/values.h>
#include <rota/windowed_order.h>

namespace rota {

struct SamplerOptions {
  std::size_t sample_count = 0;
  std::size_t batch_size = 0;  // Samples of one rank in a step.
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::uint64_t seed = 0;
  // 0: all samples are shuffled together. Otherwise they are shuffled by windows of so many
  // samples, see WindowedOrder. `shards` has the number of samples of each shard; empty: there is
  // one shard.
  std::size_t window = 0;
  std::vector<std::size_t> shards = {};
};

// Shuffles the samples anew for each epoch, and deals them out to ranks. A step covers the next
// world_size × batch_size positions of the shuffled order; rank r gets the r-th contiguous part of
// them. So one rank with batches of 400 and four ranks with batches of 100 see the same samples in
// every step. The last step of an epoch deals out the remaining samples evenly, so a rank may get
// none. Ranks communicate nothing: the order depends on the options alone. One thread at a time may
// use a ShardedSampler.
class ROTA_EXPORT ShardedSampler {
 public:
  // Throws Error kInvalidArgument if batch_size is 0 or more than sample_count / world_size, if
  // rank is not below world_size, or if the shards have not `sample_count` samples together.
  explicit ShardedSampler(const SamplerOptions& options);

  // Returns the number of steps in an epoch.
  std::size_t step_count() const noexcept;

  // Draws the order of an epoch. It depends on (seed, epoch, sample_count) alone, with a window
  // also on (window, shards), and is the same on every machine. Before the first call, the samples
  // are in the order of the data set. Allocates nothing.
  void shuffle(std::uint64_t epoch) noexcept;

  // batch() returns this rank's samples in `step`; world_batch_count() returns the number of
  // samples of all ranks in that step. Both require step < step_count(). The span is valid until
  // the next shuffle(), and with a window until the next batch() or batch_at().
  std::span<const std::uint64_t> batch(std::size_t step) const noexcept;
  std::size_t world_batch_count(std::size_t step) const noexcept;

  // The next two functions return the samples of a step that begins at position `sample` of the
  // epoch's order, and their number on all ranks. So an epoch can go on at any sample, for example
  // in a world of another size. Both functions require sample < sample_count.
  std::span<const std::uint64_t> batch_at(std::uint64_t sample) const noexcept;
  std::size_t world_batch_count_at(std::uint64_t sample) const noexcept;

  // samples_before() returns the number of samples of all ranks in all steps of an epoch before
  // `step`. step_at() returns the step that contains position `sample` of the epoch's order, and
  // step_count() if `sample` is at or behind the end.
  std::size_t samples_before(std::size_t step) const noexcept;
  std::size_t step_at(std::uint64_t sample) const noexcept;

 private:
  SamplerOptions options_;
  std::vector<std::uint64_t> order_;  // Empty with a window.
  // A batch is copied out of the order when it is asked for.
  mutable std::optional<WindowedOrder> windowed_;
  mutable std::vector<std::uint64_t> batch_;
};

}  // namespace rota

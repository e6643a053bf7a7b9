// The order of the samples of a data set that does not fit in memory: drawn, and yet near to the
// order of its files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/export.h>

namespace rota {

// Visits the shards in a drawn order, one after another, and shuffles each `window` samples of that
// sequence. So a reader in this order needs only the shards of one window at a time, and goes
// through each shard window by window. The order is a function of (seed, epoch, window, shards),
// the same on every machine, and has each sample once. It can be asked for from any position on:
// that takes time for one window, and memory for one window and the shards. One thread at a time
// may use a WindowedOrder. Used by ShardedSampler.
class ROTA_EXPORT WindowedOrder {
 public:
  // `shards` has the number of samples of each shard, in the order of the data set. Throws Error
  // kInvalidArgument if `window` is 0.
  WindowedOrder(std::size_t window, std::span<const std::size_t> shards, std::uint64_t seed);

  // Draws the order of an epoch. Before the first call, the samples are in the order of the data
  // set. Allocates nothing.
  void shuffle(std::uint64_t epoch) noexcept;

  // Writes the samples at the positions from `first` on. Requires that first + samples.size() is at
  // most the number of samples. Allocates nothing.
  void copy(std::uint64_t first, std::span<std::uint64_t> samples) noexcept;

 private:
  void draw_window(std::uint64_t index) noexcept;

  std::size_t window_;
  std::uint64_t seed_;
  std::uint64_t count_ = 0;  // Samples.
  std::uint64_t epoch_key_ = 0;
  bool is_shuffled_ = false;
  std::vector<std::uint64_t> firsts_;  // The first sample of each shard, and their number.
  std::vector<std::uint64_t> visits_;  // The shards in the order of the epoch.
  std::vector<std::uint64_t> begins_;  // Where the samples of visits_[i] begin in the sequence.
  std::vector<std::uint64_t> drawn_;   // The samples of one window.
  std::uint64_t drawn_index_;          // Which one it is.
};

}  // namespace rota

// Random orders that are the same on every machine. They are a part of the definition of a training
// run: another order would be another run.
#pragma once
#include <cstdint>
#include <span>

namespace rota::training {

// The purposes of random orders under the user's seed. A purpose is the last word of a counter,
// like the streams in nn/random.h.
enum class OrderStream : std::uint32_t {
  kSplit = 2,    // Parts of a data set.
  kSamples = 3,  // Samples in an epoch.
  kShards = 4,   // Shards in an epoch, see WindowedOrder.
  kWindows = 5,  // Samples in a window of an epoch.
};

// Returns a key for shuffle(). The key depends on the seed, on the purpose, and on `index`, such as
// the epoch.
std::uint64_t order_key(std::uint64_t seed, OrderStream stream, std::uint64_t index) noexcept;

// Shuffles `order`: all orders have the same probability. The result depends on `key` and the
// number of elements alone.
void shuffle(std::span<std::uint64_t> order, std::uint64_t key) noexcept;

}  // namespace rota::training

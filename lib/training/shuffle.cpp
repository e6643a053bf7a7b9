// Draws random orders from random numbers by position.
#include "training/shuffle.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "nn/random.h"

namespace rota::training {
namespace {

// Returns a random position below `bound`. All positions have the same probability.
std::uint64_t draw(std::uint64_t key, std::uint64_t bound) noexcept {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t limit =
      kLargest - kLargest % bound;  // Beyond it, low positions would be likelier.
  for (std::uint32_t attempt = 0;; ++attempt) {
    const nn::RandomBlock random = nn::philox(
        key,
        {static_cast<std::uint32_t>(bound), static_cast<std::uint32_t>(bound >> 32), attempt, 0});
    const std::uint64_t value = nn::join(random[0], random[1]);
    if (value < limit) return value % bound;
  }
}

}  // namespace

std::uint64_t order_key(std::uint64_t seed, OrderStream stream, std::uint64_t index) noexcept {
  const nn::RandomBlock key =
      nn::philox(seed, {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                        0, static_cast<std::uint32_t>(stream)});
  return nn::join(key[0], key[1]);
}

void shuffle(std::span<std::uint64_t> order, std::uint64_t key) noexcept {
  for (std::size_t bound = order.size(); bound > 1; --bound) {  // Fisher-Yates shuffle.
    std::swap(order[bound - 1], order[static_cast<std::size_t>(draw(key, bound))]);
  }
}

}  // namespace rota::training

// Computes exact sums: the floats depend only on rank and index, so every rank can compute the
// values of all ranks.
#include "collectives/loss.h"

#include <bit>
#include <cmath>

namespace rota::bench {
namespace {

std::uint32_t hash(std::uint32_t word) noexcept {
  word = (word ^ word >> 16) * 0x7feb'352dU;
  word = (word ^ word >> 15) * 0x846c'a68bU;
  return word ^ word >> 16;
}

// Returns the product of two uniform values. Most products are near zero.
float value_of(std::size_t rank, std::size_t index) noexcept {
  const auto even = [](std::uint32_t word) {
    return static_cast<float>(static_cast<std::int32_t>(hash(word))) * 0x1p-31F;
  };
  const auto at = static_cast<std::uint32_t>(2 * index);
  const std::uint32_t key = hash(static_cast<std::uint32_t>(rank) + 1);
  return even(at ^ key) * even((at + 1) ^ key);
}

}  // namespace

void write_floats(const Work& work, std::size_t rank, const Buffers& buffers) {
  auto* values = reinterpret_cast<float*>(buffers.input);
  for (std::size_t i = 0; i < work.total; ++i) values[i] = value_of(rank, i);
}

Loss loss_of(const Work& work, std::size_t ranks, const Buffers& buffers) {
  const auto* results = reinterpret_cast<const float*>(buffers.output);
  const double factor = work.op == ReduceOp::kMean ? 1.0 / static_cast<double>(ranks) : 1.0;
  double wrong = 0;
  double all = 0;
  Loss loss;
  for (std::size_t i = 0; i < work.total; ++i) {
    double exact = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) exact += value_of(rank, i);
    exact *= factor;
    wrong += (results[i] - exact) * (results[i] - exact);
    all += exact * exact;
    loss.digest = hash(loss.digest ^ std::bit_cast<std::uint32_t>(results[i]));
  }
  loss.relative_error = std::sqrt(wrong / all);
  return loss;
}

}  // namespace rota::bench

// Has what layers and the loss do to one element, or to one sample. Layers for CPUs and kernels for
// GPUs have the same source: nvcc compiles constexpr functions for GPUs too.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/philox.h"

namespace rota::kernels {

// max(0, x). NaN stays NaN: a loss that is not a number must not go unnoticed.
template <class T>
constexpr T relu(T value) noexcept {
  return value < 0 ? T{0} : value;
}
// These two functions return the gradient of an activation's input, where its output was `output`.
template <class T>
constexpr T relu_gradient(T gradient, T output) noexcept {
  return output > 0 ? gradient : T{0};
}
template <class T>
constexpr T sigmoid_gradient(T gradient, T output) noexcept {
  return gradient * (output * (1 - output));
}

template <class T>
constexpr T sigmoid(T value) noexcept {
  return 1 / (1 + std::exp(-value));
}

// What max pooling keeps of two values. NaN stays NaN. Compares without branches.
template <class T>
constexpr T greater_of(T value, T greatest) noexcept {
  const bool is_greater = value > greatest;
  const bool is_nan = std::isnan(value);
  return (is_greater | is_nan) ? value : greatest;
}

// A pixel as an input of a model: from 0 to 1.
template <class T>
constexpr T scaled_pixel(std::uint8_t pixel) noexcept {
  return static_cast<T>(pixel) / T{255};
}

// Which units a dropout layer drops in one step. 16 bits decide about a unit, so one random block
// decides about eight units.
inline constexpr std::size_t kUnitsDrawnTogether = 8;
template <class T>
struct DropoutDraw {
  std::uint64_t key = 0;        // Of the seed, the step and the layer.
  std::uint32_t threshold = 0;  // Units whose bits are below it are dropped.
  T kept = 1;                   // The factor of the others.

  // Returns the random block for eight units of the sample `identity`. `unit` is the first of them.
  constexpr RandomBlock block(std::uint64_t identity, std::size_t unit) const noexcept {
    return philox(key,
                  {static_cast<std::uint32_t>(identity), static_cast<std::uint32_t>(identity >> 32),
                   static_cast<std::uint32_t>(unit / kUnitsDrawnTogether), 0});
  }
  // Returns the factor of unit i of a block.
  constexpr T factor(const RandomBlock& random, std::size_t i) const noexcept {
    const std::uint32_t bits = (random[i / 2] >> (i % 2 * 16)) & 0xffff;
    return static_cast<T>(bits >= threshold) * kept;  // A branch would be mispredicted.
  }
};

struct Verdict {
  double loss = 0;
  bool is_correct = false;
};

// Returns the cross-entropy of one sample. Computes in double for every type of logits: there are
// few logits. If `gradient` is not null, it becomes the gradient with respect to the logits.
// `gradient` may be `logits`.
template <class T>
constexpr Verdict softmax_cross_entropy(const T* logits, std::size_t classes, std::size_t label,
                                        T* gradient) noexcept {
  std::size_t greatest = 0;
  for (std::size_t i = 1; i < classes; ++i) {
    if (logits[greatest] < logits[i]) greatest = i;
  }
  // Relative to the greatest logit, no exponential can overflow, and one exponential is 1.
  const auto shift = static_cast<double>(logits[greatest]);
  double sum = 0;
  for (std::size_t i = 0; i < classes; ++i) sum += std::exp(static_cast<double>(logits[i]) - shift);
  const double loss = std::log(sum) - (static_cast<double>(logits[label]) - shift);
  if (gradient == nullptr) return {loss, greatest == label};
  for (std::size_t i = 0; i < classes; ++i) {
    const double probability = std::exp(static_cast<double>(logits[i]) - shift) / sum;
    gradient[i] = static_cast<T>(i == label ? probability - 1 : probability);
  }
  return {loss, greatest == label};
}

}  // namespace rota::kernels

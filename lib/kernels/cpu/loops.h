// The loops of kernels.h and what they do to each element, written once for every instruction set.
// Included once by the file of each, which first defines ROTA_TARGET and, in this namespace,
// Lanes<T>, as many T as are worked on at once, and Float16Lanes and Bfloat16Lanes, which do what
// Same does but compute in float.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/cpu/variants.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// What is computed in the type that it is stored in. Alignment does not matter.
template <class T>
struct Same {
  using Number = T;  // That is computed with.
  static constexpr std::size_t kElementBytes = sizeof(T);
  static constexpr std::size_t kCount = sizeof(Lanes<T>) / kElementBytes;

  ROTA_TARGET static Lanes<T> load(const std::byte* from) noexcept {
    Lanes<T> lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
  }
  ROTA_TARGET static void store(std::byte* to, Lanes<T> lanes) noexcept {
    std::memcpy(to, &lanes, sizeof(lanes));
  }
};

// The operations. L is Lanes<T>, which may be a plain number: what is less than an int becomes one
// when computed with, so the results are cast back. Integers come unsigned where they may wrap. The
// last argument is a mean's factor.
struct Sum {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a + b);
  }
};

template <class Number>
struct Mean {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double factor) noexcept {
    return (a + b) * static_cast<Number>(factor);
  }
};

struct Product {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a * b);
  }
};

struct Min {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return b < a ? b : a;
  }
};

struct Max {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return a < b ? b : a;
  }
};

struct BitAnd {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a & b);
  }
};

struct BitOr {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a | b);
  }
};

struct BitXor {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a ^ b);
  }
};

// Min and Max of floating-point numbers by their bits, as signed integers. Those are in the order
// of the numbers, and -0 comes before +0, once the magnitude of negative ones is turned round.
// A NaN is whatever lies beyond infinity. Better than a comparison of numbers, which is false for
// NaN, takes -0 for +0, and wants 16-bit ones converted.
template <auto kInfinity, class Extreme>
struct ByBits {
  static constexpr auto kMagnitude = std::numeric_limits<decltype(kInfinity)>::max();

  template <class L>
  ROTA_TARGET static L turned(L bits) noexcept {  // Its own inverse.
    return static_cast<L>(bits < L{} ? bits ^ kMagnitude : bits);
  }
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    const L extreme = turned(Extreme::of(turned(a), turned(b), 1));
    const L a_or_extreme = static_cast<L>(a & kMagnitude) > kInfinity ? a : extreme;
    return static_cast<L>(b & kMagnitude) > kInfinity ? b : a_or_extreme;
  }
};

// The same address, of which the compiler no longer knows what lies there. It would take a local
// for as well aligned as lanes are, which GCC 12 does not see to where AddressSanitizer keeps
// locals on its heap.
inline std::byte* anywhere(std::byte* address) noexcept {
  asm("" : "+r"(address)::"memory");
  return address;
}

// For the end of a run, where there are fewer elements than lanes: by way of a buffer that has all.
template <class Format>
ROTA_TARGET auto load_some(const std::byte* from, std::size_t count) noexcept {
  std::byte all[Format::kCount * Format::kElementBytes] = {};
  std::memcpy(all, from, count * Format::kElementBytes);
  return Format::load(anywhere(all));
}

template <class Format, class L>
ROTA_TARGET void store_some(std::byte* to, L lanes, std::size_t count) noexcept {
  std::byte all[Format::kCount * Format::kElementBytes];
  Format::store(anywhere(all), lanes);
  std::memcpy(to, all, count * Format::kElementBytes);
}

template <class Format, class Operation>
ROTA_TARGET void combine(std::byte* accumulator, const std::byte* input, std::size_t count,
                         double factor) noexcept {
  constexpr std::size_t kBytes = Format::kCount * Format::kElementBytes;
  for (; count >= Format::kCount; count -= Format::kCount) {
    const auto result = Operation::of(Format::load(accumulator), Format::load(input), factor);
    Format::store(accumulator, result);
    accumulator += kBytes;
    input += kBytes;
  }
  if (count == 0) return;
  store_some<Format>(
      accumulator,
      Operation::of(load_some<Format>(accumulator, count), load_some<Format>(input, count), factor),
      count);
}

template <class Format, class Operation>
ROTA_TARGET void combine_to_both(std::byte* to, std::byte* also_to, const std::byte* a,
                                 const std::byte* b, std::size_t count, double factor) noexcept {
  constexpr std::size_t kBytes = Format::kCount * Format::kElementBytes;
  for (; count >= Format::kCount; count -= Format::kCount) {
    const auto result = Operation::of(Format::load(a), Format::load(b), factor);
    Format::store(to, result);
    Format::store(also_to, result);
    to += kBytes;
    also_to += kBytes;
    a += kBytes;
    b += kBytes;
  }
  if (count == 0) return;
  const auto result =
      Operation::of(load_some<Format>(a, count), load_some<Format>(b, count), factor);
  store_some<Format>(to, result, count);
  store_some<Format>(also_to, result, count);
}

template <class Format>
ROTA_TARGET void scale(std::byte* values, std::size_t count, double factor) noexcept {
  constexpr std::size_t kBytes = Format::kCount * Format::kElementBytes;
  const auto rounded = static_cast<typename Format::Number>(factor);
  for (; count >= Format::kCount; count -= Format::kCount) {
    Format::store(values, Format::load(values) * rounded);
    values += kBytes;
  }
  if (count == 0) return;
  store_some<Format>(values, load_some<Format>(values, count) * rounded, count);
}

template <class L, class T>
ROTA_TARGET void sgd_step(L& value, L& velocity, L gradient,
                          const Hyperparameters<T>& hyperparameters) noexcept {
  const auto& [learning_rate, momentum, weight_decay, gradient_scale] = hyperparameters;
  const L g = gradient * gradient_scale + weight_decay * value;
  velocity = momentum * velocity + g;
  value -= learning_rate * velocity;
}

template <class T>
ROTA_TARGET void sgd_update(T* values, T* velocity, const T* gradient, std::size_t count,
                            const Hyperparameters<T>& hyperparameters) noexcept {
  const Hyperparameters<T> constants = hyperparameters;  // A copy, which no store can change.
  auto* value_bytes = reinterpret_cast<std::byte*>(values);
  auto* velocity_bytes = reinterpret_cast<std::byte*>(velocity);
  const auto* gradient_bytes = reinterpret_cast<const std::byte*>(gradient);
  for (; count >= Same<T>::kCount; count -= Same<T>::kCount) {
    Lanes<T> value = Same<T>::load(value_bytes);
    Lanes<T> v = Same<T>::load(velocity_bytes);
    sgd_step(value, v, Same<T>::load(gradient_bytes), constants);
    Same<T>::store(value_bytes, value);
    Same<T>::store(velocity_bytes, v);
    value_bytes += sizeof(Lanes<T>);
    velocity_bytes += sizeof(Lanes<T>);
    gradient_bytes += sizeof(Lanes<T>);
  }
  if (count == 0) return;
  Lanes<T> value = load_some<Same<T>>(value_bytes, count);
  Lanes<T> v = load_some<Same<T>>(velocity_bytes, count);
  sgd_step(value, v, load_some<Same<T>>(gradient_bytes, count), constants);
  store_some<Same<T>>(value_bytes, value, count);
  store_some<Same<T>>(velocity_bytes, v, count);
}

}  // namespace
}  // namespace rota::kernels::cpu

// Arithmetic on runs of numbers, in one variant for each instruction set. Every variant gives the
// same bits as the reference, "scalar": lanes never mix, and no multiply is fused with an add.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace rota::kernels {

template <class T>
struct Hyperparameters {  // Of sgd_update; see rota::Sgd for what they mean.
  T learning_rate;
  T momentum;
  T weight_decay;
  T gradient_scale;
};

// Pointers need the alignment of T only. Input and accumulator never overlap.
template <class T>
struct Arithmetic {
  // accumulator[i] += input[i]
  void (*add)(T* accumulator, const T* input, std::size_t count) noexcept;
  // accumulator[i] = (accumulator[i] + input[i]) * factor
  void (*add_scale)(T* accumulator, const T* input, std::size_t count, T factor) noexcept;
  // values[i] *= factor
  void (*scale)(T* values, std::size_t count, T factor) noexcept;
  // g = gradient[i] * gradient_scale + weight_decay * values[i];
  // velocity[i] = momentum * velocity[i] + g;  values[i] -= learning_rate * velocity[i]
  void (*sgd_update)(T* values, T* velocity, const T* gradient, std::size_t count,
                     const Hyperparameters<T>& hyperparameters) noexcept;
};

struct Variant {
  const char* name;  // "avx512", "avx2", "scalar"
  bool (*supported)() noexcept;
  void (*copy)(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
  Arithmetic<float> float32;
  Arithmetic<double> float64;

  template <class T>
  const Arithmetic<T>& arithmetic() const noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return float32;
    } else {
      return float64;
    }
  }
};

// Best first. The last one, "scalar", always runs.
std::span<const Variant* const> variants() noexcept;

// The best variant that this machine supports or, where `forced` is not empty, the one of that
// name. Throws Error kInvalidArgument, listing what there is, if it is unknown or not supported.
// Chosen once, when a plan is made; never in a loop.
const Variant& select(std::string_view forced = {});

}  // namespace rota::kernels

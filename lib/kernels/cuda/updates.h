// Has the optimizers on a GPU. One kernel updates all parameters of a bucket.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/map.h"

namespace rota::kernels::cuda {

// What an optimizer does to one element: it has kKept arrays that it changes, the parameters first.
template <class T>
struct SgdStep {
  static constexpr std::size_t kKept = 2;
  Hyperparameters<T> hyperparameters;

  ROTA_TARGET void operator()(T (&kept)[kKept], T gradient) const noexcept {
    cpu::sgd_step(kept[0], kept[1], gradient, hyperparameters);
  }
};

template <class T>
struct AdamStep {
  static constexpr std::size_t kKept = 3;
  AdamFactors<T> factors;

  ROTA_TARGET void operator()(T (&kept)[kKept], T gradient) const noexcept {
    cpu::adam_step(kept[0], kept[1], kept[2], gradient, factors);
  }
};

template <class T, class Step>
struct UpdateBody {
  static constexpr std::size_t kKept = Step::kKept;
  static constexpr std::size_t kRun = kGranule / sizeof(T);
  static constexpr unsigned kUnroll = 2;
  struct Loaded {
    Bytes<kGranule> kept[kKept];
    Bytes<kGranule> gradient;
  };
  using Single = cpu::Same<T>;

  std::byte* kept[kKept];
  const std::byte* gradient;
  Step step;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    const std::size_t at = index * sizeof(T);
    T own[kKept];
    ROTA_UNROLL
    for (std::size_t i = 0; i < kKept; ++i) own[i] = Single::load(kept[i] + at);
    step(own, Single::load(gradient + at));
    ROTA_UNROLL
    for (std::size_t i = 0; i < kKept; ++i) Single::store(kept[i] + at, own[i]);
  }

  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    const std::size_t at = index * sizeof(T);
    Loaded loaded;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kKept; ++i) loaded.kept[i] = load_granules<kGranule>(kept[i] + at);
    loaded.gradient = load_granules<kGranule>(gradient + at);
    return loaded;
  }

  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Bytes<kGranule> results[kKept];
    ROTA_UNROLL
    for (std::size_t each = 0; each < kGranule; each += sizeof(T)) {
      T own[kKept];
      ROTA_UNROLL
      for (std::size_t i = 0; i < kKept; ++i) own[i] = Single::load(loaded.kept[i].bytes + each);
      step(own, Single::load(loaded.gradient.bytes + each));
      ROTA_UNROLL
      for (std::size_t i = 0; i < kKept; ++i) Single::store(results[i].bytes + each, own[i]);
    }
    ROTA_UNROLL
    for (std::size_t i = 0; i < kKept; ++i) store_granules(kept[i] + index * sizeof(T), results[i]);
  }
};

template <class T>
std::byte* bytes_of(T* values) noexcept {
  return reinterpret_cast<std::byte*>(values);
}
template <class T>
const std::byte* bytes_of(const T* values) noexcept {
  return reinterpret_cast<const std::byte*>(values);
}

template <class T>
Status sgd(const Queue& queue, T* values, T* velocity, const T* gradient, std::size_t count,
           const Hyperparameters<T>& hyperparameters) noexcept {
  const UpdateBody<T, SgdStep<T>> body = {
      {bytes_of(values), bytes_of(velocity)}, bytes_of(gradient), {hyperparameters}};
  return map(queue, body, bytes_of(values), sizeof(T), count);
}

template <class T>
Status adam(const Queue& queue, T* values, T* mean, T* mean_square, const T* gradient,
            std::size_t count, const AdamFactors<T>& factors) noexcept {
  const UpdateBody<T, AdamStep<T>> body = {
      {bytes_of(values), bytes_of(mean), bytes_of(mean_square)}, bytes_of(gradient), {factors}};
  return map(queue, body, bytes_of(values), sizeof(T), count);
}

}  // namespace rota::kernels::cuda

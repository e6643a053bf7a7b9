// Has what layers do to each value on its own, on a GPU.
#pragma once
#include <rota/cuda_model_calls.h>

#include "kernels/cuda/each.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/map.h"
#include "kernels/layer_steps.h"

namespace rota::kernels::cuda {

struct ReluStep {
  ROTA_TARGET float operator()(float value) const noexcept { return relu(value); }
};
struct SigmoidStep {
  ROTA_TARGET float operator()(float value) const noexcept { return sigmoid(value); }
};

struct ReluGradientStep {
  ROTA_TARGET float operator()(float gradient, float output) const noexcept {
    return relu_gradient(gradient, output);
  }
};
struct SigmoidGradientStep {
  ROTA_TARGET float operator()(float gradient, float output) const noexcept {
    return sigmoid_gradient(gradient, output);
  }
};
struct ProductStep {
  ROTA_TARGET float operator()(float value, float factor) const noexcept { return value * factor; }
};

// values[i] = step(values[i])
template <class Step>
struct ValueBody {
  static constexpr std::size_t kRun = kGranule / sizeof(float);
  static constexpr unsigned kUnroll = 4;
  using Loaded = Bytes<kGranule>;
  using Single = cpu::Same<float>;

  std::byte* values;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    std::byte* at = values + index * sizeof(float);
    Single::store(at, Step()(Single::load(at)));
  }
  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    return load_granules<kGranule>(values + index * sizeof(float));
  }
  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Bytes<kGranule> result;
    ROTA_UNROLL
    for (std::size_t at = 0; at < kGranule; at += sizeof(float)) {
      Single::store(result.bytes + at, Step()(Single::load(loaded.bytes + at)));
    }
    store_granules(values + index * sizeof(float), result);
  }
};

// values[i] = step(values[i], other[i])
template <class Step>
struct PairBody {
  static constexpr std::size_t kRun = kGranule / sizeof(float);
  static constexpr unsigned kUnroll = 2;
  struct Loaded {
    Bytes<kGranule> values;
    Bytes<kGranule> other;
  };
  using Single = cpu::Same<float>;

  std::byte* values;
  const std::byte* other;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    const std::size_t at = index * sizeof(float);
    Single::store(values + at, Step()(Single::load(values + at), Single::load(other + at)));
  }
  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    const std::size_t at = index * sizeof(float);
    return {load_granules<kGranule>(values + at), load_granules<kGranule>(other + at)};
  }
  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Bytes<kGranule> result;
    ROTA_UNROLL
    for (std::size_t at = 0; at < kGranule; at += sizeof(float)) {
      Single::store(result.bytes + at, Step()(Single::load(loaded.values.bytes + at),
                                              Single::load(loaded.other.bytes + at)));
    }
    store_granules(values + index * sizeof(float), result);
  }
};

// A thread widens 16 pixels, and stores 64 bytes.
struct PixelBody {
  static constexpr std::size_t kRun = kGranule;
  static constexpr unsigned kUnroll = 1;
  using Loaded = Bytes<kGranule>;

  std::byte* values;
  const std::byte* pixels;

  ROTA_TARGET static void widen(std::byte* to, std::byte pixel) noexcept {
    cpu::Same<float>::store(to, scaled_pixel<float>(static_cast<std::uint8_t>(pixel)));
  }
  ROTA_TARGET void one(std::size_t index) const noexcept {
    widen(values + index * sizeof(float), pixels[index]);
  }
  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    return load_granules<kGranule>(pixels + index);
  }
  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Bytes<kRun * sizeof(float)> result;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kRun; ++i) widen(result.bytes + i * sizeof(float), loaded.bytes[i]);
    store_granules(values + index * sizeof(float), result);
  }
};

struct FillBody {
  float* matrix;
  const float* row;
  std::size_t columns;

  template <class Index>
  ROTA_TARGET void one(Index index) const noexcept {
    matrix[index] = row[index % static_cast<Index>(columns)];
  }
};

// One element is eight units of a sample.
struct DropoutBody {
  float* factors;
  const std::uint64_t* identities;
  std::size_t units;
  DropoutDraw<float> draw;

  ROTA_TARGET static std::size_t blocks(std::size_t units) noexcept {
    return (units + kUnitsDrawnTogether - 1) / kUnitsDrawnTogether;
  }
  template <class Index>
  ROTA_TARGET void one(Index index) const noexcept {
    const auto of_sample = static_cast<Index>(blocks(units));
    const std::size_t sample = index / of_sample;
    const std::size_t unit = index % of_sample * kUnitsDrawnTogether;
    const RandomBlock random = draw.block(identities[sample], unit);
    float* to = factors + sample * units + unit;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kUnitsDrawnTogether; ++i) {
      if (unit + i < units) to[i] = draw.factor(random, i);
    }
  }
};

}  // namespace rota::kernels::cuda

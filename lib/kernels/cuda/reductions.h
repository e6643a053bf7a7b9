// Combines arrays, and multiplies an array by a factor, on a GPU.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/map.h"

namespace rota::kernels::cuda {

// Earlier combines all inputs but the last, and Last the result with the last one.
template <class Format, class Earlier, class Last>
struct ReduceBody {
  static constexpr std::size_t kElementBytes = Format::kElementBytes;
  static constexpr std::size_t kRun = kGranule / kElementBytes;
  static constexpr unsigned kUnroll = 4;
  using Loaded = Bytes<kGranule>;

  Reduction all;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    const std::size_t at = index * kElementBytes;
    std::byte result[kElementBytes];
    std::memcpy(result, all.inputs[0] + at, kElementBytes);
    const unsigned last = all.input_count - 1;
    for (unsigned i = 1; i < last; ++i) combine<Earlier>(result, all.inputs[i] + at);
    combine<Last>(result, all.inputs[last] + at);
    std::memcpy(all.to + at, result, kElementBytes);
    if (all.also_to != nullptr) std::memcpy(all.also_to + at, result, kElementBytes);
  }

  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    const std::size_t at = index * kElementBytes;
    Loaded result = load_granules<kGranule>(all.inputs[0] + at);
    const unsigned last = all.input_count - 1;
    for (unsigned i = 1; i < last; ++i) {
      combine_run<Earlier>(result, load_granules<kGranule>(all.inputs[i] + at));
    }
    combine_run<Last>(result, load_granules<kGranule>(all.inputs[last] + at));
    return result;
  }

  ROTA_TARGET void store(std::size_t index, const Loaded& result) const noexcept {
    const std::size_t at = index * kElementBytes;
    store_granules(all.to + at, result);
    if (all.also_to != nullptr) store_granules(all.also_to + at, result);
  }

 private:
  template <class Operation>
  ROTA_TARGET void combine(std::byte* result, const std::byte* input) const noexcept {
    Format::store(result, Operation::of(Format::load(result), Format::load(input), all.factor));
  }
  template <class Operation>
  ROTA_TARGET void combine_run(Loaded& result, const Loaded& input) const noexcept {
    ROTA_UNROLL
    for (std::size_t i = 0; i < kGranule; i += kElementBytes) {
      combine<Operation>(result.bytes + i, input.bytes + i);
    }
  }
};

template <class Format, class Earlier, class Last = Earlier>
Status reduce(const Queue& queue, const Reduction& reduction) noexcept {
  return map(queue, ReduceBody<Format, Earlier, Last>{reduction}, reduction.to,
             Format::kElementBytes, reduction.count);
}

// Bits do not know what element they belong to, so all types share the kernels of bitwise
// operations.
template <class Operation, std::size_t kElementBytes>
Status reduce_bits(const Queue& queue, const Reduction& reduction) noexcept {
  Reduction of_bytes = reduction;
  of_bytes.count *= kElementBytes;
  return reduce<cpu::Same<std::uint8_t>, Operation>(queue, of_bytes);
}

template <class Format>
struct ScaleBody {
  static constexpr std::size_t kElementBytes = Format::kElementBytes;
  static constexpr std::size_t kRun = kGranule / kElementBytes;
  static constexpr unsigned kUnroll = 4;
  using Loaded = Bytes<kGranule>;

  std::byte* values;
  typename Format::Number factor;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    std::byte* value = values + index * kElementBytes;
    Format::store(value, Format::load(value) * factor);
  }
  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    return load_granules<kGranule>(values + index * kElementBytes);
  }
  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Loaded result;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kGranule; i += kElementBytes) {
      Format::store(result.bytes + i, Format::load(loaded.bytes + i) * factor);
    }
    store_granules(values + index * kElementBytes, result);
  }
};

template <class Format>
Status scale(const Queue& queue, std::byte* values, std::size_t count, double factor) noexcept {
  using Number = typename Format::Number;
  return map(queue, ScaleBody<Format>{values, static_cast<Number>(factor)}, values,
             Format::kElementBytes, count);
}

}  // namespace rota::kernels::cuda

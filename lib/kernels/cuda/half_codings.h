// Has the codecs of 16 bits on a GPU. Each element is coded on its own.
#pragma once
#include "kernels/cuda/casts.h"

namespace rota::kernels::cuda {

template <class Half, class Operation>
struct HalfDecodeBody {
  static constexpr std::size_t kRun = kGranule / Half::kElementBytes;
  static constexpr unsigned kUnroll = 2;
  struct Loaded {
    Bytes<kRun * sizeof(float)> from;
    Bytes<kGranule> coded;
  };
  using Single = cpu::Same<float>;

  std::byte* to;
  const std::byte* from;
  const std::byte* coded;
  float factor;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    decode(to + index * sizeof(float), from + index * sizeof(float),
           coded + index * Half::kElementBytes);
  }
  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    return {load_granules<kRun * sizeof(float)>(from + index * sizeof(float)),
            load_granules<kGranule>(coded + index * Half::kElementBytes)};
  }
  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Bytes<kRun * sizeof(float)> result;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kRun; ++i) {
      decode(result.bytes + i * sizeof(float), loaded.from.bytes + i * sizeof(float),
             loaded.coded.bytes + i * Half::kElementBytes);
    }
    store_granules(to + index * sizeof(float), result);
  }

 private:
  ROTA_TARGET void decode(std::byte* result, const std::byte* value,
                          const std::byte* half) const noexcept {
    Single::store(result, Operation::of(Single::load(value), Half::load(half), factor));
  }
};

template <class Half>
Status encode_halves(const Queue& queue, std::byte* coded, const std::byte* values,
                     std::size_t count, Dither) noexcept {
  return cast<Half, cpu::Same<float>>(queue, coded, values, count);
}

template <class Half>
Status decode_halves(const Queue& queue, std::byte* to, const std::byte*, const std::byte* coded,
                     std::size_t count, float) noexcept {
  return cast<cpu::Same<float>, Half>(queue, to, coded, count);
}

template <class Half, class Operation>
Status combine_halves(const Queue& queue, std::byte* to, const std::byte* from,
                      const std::byte* coded, std::size_t count, float factor) noexcept {
  return map(queue, HalfDecodeBody<Half, Operation>{to, from, coded, factor}, to, sizeof(float),
             count);
}

}  // namespace rota::kernels::cuda

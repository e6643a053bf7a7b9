// Has the codecs of 8 bits on a GPU. A coded block has its quantization step, then a byte for each
// of its elements.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/map.h"

namespace rota::kernels::cuda {

inline constexpr std::size_t kStepBytes = sizeof(float);
inline constexpr std::size_t kInt8BlockBytes = kStepBytes + kInt8Block;

// A group of 32 threads encodes a block: each thread encodes 8 elements.
template <bool kStochastic>
struct Int8Encode {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kPhases = 3;
  static constexpr unsigned kGroup = 32;
  static constexpr unsigned kGroups = kThreads / kGroup;
  static constexpr std::size_t kOwn = kInt8Block / kGroup;  // Elements of a thread.
  static constexpr unsigned kFours = kGroup / 4;
  using Single = cpu::Same<float>;

  struct Shared {
    std::int32_t most[kThreads];  // The bits of the largest magnitude of each thread …
    std::int32_t most_of_four[kGroups * kFours];  // … and of each four threads.
  };
  struct Local {
    Bytes<kOwn * sizeof(float)> values;
  };

  std::byte* coded;
  const std::byte* values;
  std::size_t count;
  Dither dither;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared& shared, Local& local) const noexcept {
    const unsigned group = place.thread / kGroup;
    if constexpr (kPhase == 0) {
      const Source source(values, count * sizeof(float));
      local.values = source.load<kOwn * sizeof(float)>(first_of(place) * sizeof(float));
      std::int32_t most = 0;
      ROTA_UNROLL
      for (std::size_t i = 0; i < kOwn; ++i) most = cpu::larger(most, value_of(local, i));
      shared.most[place.thread] = most;
    } else if constexpr (kPhase == 1) {
      const unsigned four = place.thread % kGroup;
      if (four >= kFours) return;
      const std::int32_t* mosts = shared.most + group * kGroup + four * 4;
      shared.most_of_four[group * kFours + four] = largest_of<4>(mosts);
    } else {
      const std::int32_t most = largest_of<kFours>(shared.most_of_four + group * kFours);
      write(place, local, cpu::quantization_of(cpu::bits_of<float>(most)));
    }
  }

 private:
  template <unsigned kCount>
  ROTA_TARGET static std::int32_t largest_of(const std::int32_t* mosts) noexcept {
    std::int32_t largest = mosts[0];
    ROTA_UNROLL
    for (unsigned i = 1; i < kCount; ++i) largest = mosts[i] > largest ? mosts[i] : largest;
    return largest;
  }

  ROTA_TARGET static std::size_t block_of(const Place& place) noexcept {
    return std::size_t{place.block} * kGroups + place.thread / kGroup;
  }
  ROTA_TARGET static std::size_t first_of(const Place& place) noexcept {
    return block_of(place) * kInt8Block + place.thread % kGroup * kOwn;
  }
  ROTA_TARGET static float value_of(const Local& local, std::size_t index) noexcept {
    return Single::load(local.values.bytes + index * sizeof(float));
  }

  ROTA_TARGET void write(const Place& place, const Local& local,
                         const cpu::Quantization& quantization) const noexcept {
    const std::size_t first = first_of(place);
    if (first >= count) return;
    std::byte* block = coded + block_of(place) * kInt8BlockBytes;
    if (place.thread % kGroup == 0) std::memcpy(block, &quantization.step, kStepBytes);
    Bytes<kOwn> bytes;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kOwn; ++i) {
      const auto position = dither.first + static_cast<std::uint32_t>(first + i);
      const auto stored = cpu::last_bytes(cpu::with_last_bits<kStochastic>(
          value_of(local, i) * quantization.steps, Dither{dither.key, position}, 0));
      const auto byte = quantization.is_number() ? stored : cpu::StoredBytes{0};
      std::memcpy(bytes.bytes + i, &byte, 1);
    }
    std::byte* to = block + kStepBytes + place.thread % kGroup * kOwn;
    if (first + kOwn <= count) {
      store_granules(to, bytes);
    } else {
      std::memcpy(to, bytes.bytes, count - first);
    }
  }
};

template <class Operation>
struct Int8DecodeBody {
  static constexpr std::size_t kRun = kGranule / sizeof(float);
  static constexpr unsigned kUnroll = 4;
  struct Loaded {
    Bytes<kGranule> from;
    float decoded[kRun];
  };
  using Single = cpu::Same<float>;

  std::byte* to;
  const std::byte* from;
  const std::byte* coded;
  float factor;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    decode(to + index * sizeof(float), from + index * sizeof(float), decoded(index));
  }
  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    Loaded loaded;
    loaded.from = load_granules<kGranule>(from + index * sizeof(float));
    ROTA_UNROLL
    for (std::size_t i = 0; i < kRun; ++i) loaded.decoded[i] = decoded(index + i);
    return loaded;
  }
  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Bytes<kGranule> result;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kRun; ++i) {
      decode(result.bytes + i * sizeof(float), loaded.from.bytes + i * sizeof(float),
             loaded.decoded[i]);
    }
    store_granules(to + index * sizeof(float), result);
  }

 private:
  ROTA_TARGET float decoded(std::size_t index) const noexcept {
    const std::byte* block = coded + index / kInt8Block * kInt8BlockBytes;
    const bool is_aligned = misalignment(block, sizeof(float)) == 0;
    const float step = is_aligned ? load_piece<float>(block) : Single::load(block);
    const auto byte = static_cast<std::int8_t>(block[kStepBytes + index % kInt8Block]);
    return cpu::widen_bytes(byte) * step;
  }
  ROTA_TARGET void decode(std::byte* result, const std::byte* value, float number) const noexcept {
    Single::store(result, Operation::of(Single::load(value), number, factor));
  }
};

template <bool kStochastic>
Status encode_int8(const Queue& queue, std::byte* coded, const std::byte* values, std::size_t count,
                   Dither dither) noexcept {
  using Kernel = Int8Encode<kStochastic>;
  constexpr std::size_t kShare = Kernel::kGroups * kInt8Block;
  return launch(queue, (count + kShare - 1) / kShare, Kernel{coded, values, count, dither});
}

template <class Operation>
Status decode_int8(const Queue& queue, std::byte* to, const std::byte* from, const std::byte* coded,
                   std::size_t count, float factor) noexcept {
  return map(queue, Int8DecodeBody<Operation>{to, from, coded, factor}, to, sizeof(float), count);
}

}  // namespace rota::kernels::cuda

// What codecs make of runs of float32, and how many bytes that is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <rota/codec.h>

#include "kernels/variant.h"

namespace rota::kernels {

inline constexpr std::size_t kCodecCount = static_cast<std::size_t>(Codec::kTopK) + 1;

// Codecs work block by block, and what they make of one depends on nothing else.
inline constexpr std::size_t kHalvesBlock = 16;  // Of the 16-bit ones; they would need none.
inline constexpr std::size_t kInt8Block = 256;   // A float, which is one step, and bytes.
inline constexpr std::size_t kTopKBlock = 4096;  // Places of the largest, and then their values:
inline constexpr std::size_t kTopKShare = 64;    // one in so many.

// Where runs are cut apart, it is at multiples of this.
constexpr std::size_t coded_grain(Codec codec) noexcept {
  if (codec == Codec::kTopK) return kTopKBlock;
  return codec >= Codec::kInt8 ? kInt8Block : kHalvesBlock;
}

// Of a run that starts at a multiple of the grain.
constexpr std::size_t coded_bytes(Codec codec, std::size_t count) noexcept {
  const auto parts = [count](std::size_t of) { return (count + of - 1) / of; };
  switch (codec) {
    case Codec::kIdentity:
      return count * sizeof(float);
    case Codec::kBfloat16:
    case Codec::kFloat16:
      return count * 2;
    case Codec::kInt8:
    case Codec::kInt8Stochastic:
      return count + parts(kInt8Block) * sizeof(float);
    case Codec::kTopK:  // Whole blocks keep the same number each.
      return parts(kTopKShare) * (sizeof(std::uint16_t) + sizeof(float));
  }
  return 0;
}

// Where stochastic rounding takes its chances from: the same in, the same out.
struct Dither {
  std::uint32_t key = 0;
  std::uint32_t first = 0;  // The place of the run's first element; modulo 2^32.
};

// What lies in `coded` needs no alignment. Nothing overlaps, but `to` may be `from`.
struct Coding {
  using Decode = void (*)(std::byte* to, const std::byte* from, const std::byte* coded,
                          std::size_t count, float factor) noexcept;

  void (*encode)(std::byte* coded, const std::byte* values, std::size_t count,
                 Dither dither) noexcept = nullptr;
  Decode decode = nullptr;  // to = decoded; `from` is read, and does not matter.
  Decode add = nullptr;     // to = (from + decoded) * factor
  Decode lose = nullptr;    // to = (from - decoded) * factor, what was lost; 0 if not finite.
};

struct Codings {
  static std::span<const Codings* const> table() noexcept;  // Best first; the last is scalar's.

  const Variant* variant;
  Coding codecs[kCodecCount];  // By Codec; none of the identity.

  const Coding& coding(Codec codec) const noexcept {
    return codecs[static_cast<std::size_t>(codec)];
  }
};

}  // namespace rota::kernels

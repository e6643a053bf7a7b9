// Has the kernels of codecs, which encode and decode arrays of float32. Also computes the size of
// coded values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <rota/codec.h>

#include "kernels/variant.h"

namespace rota::kernels {

inline constexpr std::size_t kCodecCount = static_cast<std::size_t>(Codec::kTopK) + 1;

// Codecs work on blocks. The coded form of a block depends on no other block.
inline constexpr std::size_t kHalvesBlock = 16;  // 16-bit codecs, which encode each element alone.
inline constexpr std::size_t kInt8Block = 256;   // A float (the quantization step), then bytes.
// A coded block has the positions of the largest magnitudes, then their values.
inline constexpr std::size_t kTopKBlock = 4096;
inline constexpr std::size_t kTopKShare = 64;  // Keeps one of so many elements.

// Returns how many of `count` elements top-k keeps.
constexpr std::size_t top_k_of(std::size_t count) noexcept {
  return (count + kTopKShare - 1) / kTopKShare;
}

// Coded arrays are divided only at multiples of this number of elements.
constexpr std::size_t coded_grain(Codec codec) noexcept {
  if (codec == Codec::kTopK) return kTopKBlock;
  return codec >= Codec::kInt8 ? kInt8Block : kHalvesBlock;
}

// Returns the number of coded bytes of `count` elements that start at a multiple of the grain.
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
    case Codec::kTopK:  // Every whole block keeps the same number of elements.
      return parts(kTopKShare) * (sizeof(std::uint16_t) + sizeof(float));
  }
  return 0;
}

// The source of randomness of stochastic rounding: the same input gives the same output.
struct Dither {
  std::uint32_t key = 0;
  std::uint32_t first = 0;  // Position of the first element, modulo 2^32.
};

// `coded` needs no alignment. Memory must not overlap, except that `to` may be `from`.
struct Coding {
  using Decode = void (*)(std::byte* to, const std::byte* from, const std::byte* coded,
                          std::size_t count, float factor) noexcept;

  void (*encode)(std::byte* coded, const std::byte* values, std::size_t count,
                 Dither dither) noexcept = nullptr;
  Decode decode = nullptr;  // to = decoded; `from` is read but ignored.
  Decode add = nullptr;     // to = (from + decoded) * factor
  Decode lose = nullptr;    // to = (from - decoded) * factor: the loss; 0 if not finite.
};

struct Codings {
  static std::span<const Codings* const> table() noexcept;  // Best first; the last is "scalar".

  const Variant* variant;
  Coding codecs[kCodecCount];  // Indexed by Codec; empty for the identity.

  const Coding& coding(Codec codec) const noexcept {
    return codecs[static_cast<std::size_t>(codec)];
  }
};

}  // namespace rota::kernels

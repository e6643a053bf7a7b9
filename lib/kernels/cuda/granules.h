// Loads and stores bytes of global memory 16 at a time, as granules, at addresses of any alignment.
// A GPU needs accesses of 16 bytes to copy as fast as its memory can, and faults at one that is not
// aligned.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "kernels/cuda/target.h"

namespace rota::kernels::cuda {

inline constexpr std::size_t kGranule = 16;

template <std::size_t kBytes>
struct alignas(kBytes % 16 == 0 ? 16 : 8) Bytes {
  std::byte bytes[kBytes];
};

struct alignas(16) Words {
  std::uint32_t words[4];
};

ROTA_TARGET inline std::size_t misalignment(const std::byte* address, std::size_t of) noexcept {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) & (of - 1));
}

// Loads or stores one Piece at an address that has the alignment of a Piece. On the host, this is
// checked.
template <class Piece>
ROTA_TARGET inline Piece load_piece(const std::byte* from) noexcept {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const Piece*>(from);
#else
  ROTA_ASSERT(misalignment(from, sizeof(Piece)) == 0);
  Piece piece;
  std::memcpy(&piece, from, sizeof(piece));
  return piece;
#endif
}
template <class Piece>
ROTA_TARGET inline void store_piece(std::byte* to, const Piece& piece) noexcept {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<Piece*>(to) = piece;
#else
  ROTA_ASSERT(misalignment(to, sizeof(Piece)) == 0);
  std::memcpy(to, &piece, sizeof(piece));
#endif
}

// Returns 16 bytes of two neighbouring granules, from byte `shift` on. Requires 0 < shift < 16.
ROTA_TARGET inline Words joined(const Words& low, const Words& high, std::size_t shift) noexcept {
  const std::uint32_t all[8] = {low.words[0],  low.words[1],  low.words[2],  low.words[3],
                                high.words[0], high.words[1], high.words[2], high.words[3]};
  const auto bits = static_cast<unsigned>(shift % 4 * 8);
  // First moves by whole words, in two steps, so that no index depends on `shift`: a GPU has no
  // registers with an index.
  std::uint32_t moved[5];
  const bool by_two = (shift & 8) != 0;
  const bool by_one = (shift & 4) != 0;
  ROTA_UNROLL
  for (int i = 0; i < 5; ++i) {
    const std::uint32_t here = by_two ? all[i + 2] : all[i];
    const std::uint32_t next = by_two ? all[i + 3] : all[i + 1];
    moved[i] = by_one ? next : here;
  }
  Words result;
  ROTA_UNROLL
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t pair = std::uint64_t{moved[i + 1]} << 32 | moved[i];
    result.words[i] = static_cast<std::uint32_t>(pair >> bits);
  }
  return result;
}

// Loads kBytes, a multiple of 16. If `from` is not aligned, also reads the up to 15 bytes before
// it, and up to 15 bytes after the last byte: they must belong to the same array.
template <std::size_t kBytes>
ROTA_TARGET inline Bytes<kBytes> load_granules(const std::byte* from) noexcept {
  static_assert(kBytes % kGranule == 0);
  Bytes<kBytes> result;
  const std::size_t shift = misalignment(from, kGranule);
  if (shift == 0) {
    ROTA_UNROLL
    for (std::size_t i = 0; i < kBytes; i += kGranule) {
      const auto words = load_piece<Words>(from + i);
      std::memcpy(result.bytes + i, &words, sizeof(words));
    }
    return result;
  }
  auto low = load_piece<Words>(from - shift);
  ROTA_UNROLL
  for (std::size_t i = 0; i < kBytes; i += kGranule) {
    const auto high = load_piece<Words>(from - shift + i + kGranule);
    const Words words = joined(low, high, shift);
    std::memcpy(result.bytes + i, &words, sizeof(words));
    low = high;
  }
  return result;
}

template <class Piece, std::size_t kBytes>
ROTA_TARGET inline void store_in_pieces(std::byte* to, const Bytes<kBytes>& from) noexcept {
  ROTA_UNROLL
  for (std::size_t i = 0; i < kBytes; i += sizeof(Piece)) {
    Piece piece;
    std::memcpy(&piece, from.bytes + i, sizeof(piece));
    store_piece(to + i, piece);
  }
}

// Stores kBytes, a multiple of 8, in the largest pieces that the address allows.
template <std::size_t kBytes>
ROTA_TARGET inline void store_granules(std::byte* to, const Bytes<kBytes>& from) noexcept {
  const std::size_t off = misalignment(to, kGranule);
  if constexpr (kBytes % kGranule == 0) {
    if (off == 0) return store_in_pieces<Words>(to, from);
  }
  if (off % 8 == 0) return store_in_pieces<std::uint64_t>(to, from);
  if (off % 4 == 0) return store_in_pieces<std::uint32_t>(to, from);
  if (off % 2 == 0) return store_in_pieces<std::uint16_t>(to, from);
  store_in_pieces<std::uint8_t>(to, from);
}

// An array of which parts are loaded that may extend beyond its end.
class Source {
 public:
  ROTA_TARGET Source(const std::byte* begin, std::size_t bytes) noexcept
      : begin_(begin), bytes_(bytes) {}

  // Returns kBytes from byte `at` on, with zeros beyond the end of the array.
  template <std::size_t kBytes>
  ROTA_TARGET Bytes<kBytes> load(std::size_t at) const noexcept {
    const bool is_aligned = misalignment(begin_ + at, kGranule) == 0;
    const std::size_t margin = is_aligned ? 0 : kGranule;
    if (at >= margin && at + kBytes + margin <= bytes_) return load_granules<kBytes>(begin_ + at);
    Bytes<kBytes> result;
    for (std::size_t i = 0; i < kBytes; ++i) {
      result.bytes[i] = at + i < bytes_ ? begin_[at + i] : std::byte{0};
    }
    return result;
  }

 private:
  const std::byte* begin_;
  std::size_t bytes_;
};

}  // namespace rota::kernels::cuda

// The checksum CRC-32C (Castagnoli). Without this checksum, damaged records and checkpoints would
// be used. RFC 3720 defines it; its polynomial is 0x1edc6f41.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace rota::kernels {

// Returns the checksum of `bytes`. If `crc` is the checksum of earlier bytes, returns the checksum
// of the earlier bytes followed by `bytes`.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0) noexcept;

// One way to compute the checksum. All rows give the same checksum, so no option forces a row.
struct Crc32c {
  // Returns all rows, best first. The last one, "scalar", always runs.
  static std::span<const Crc32c* const> table() noexcept;

  const char* name;
  bool (*supported)() noexcept;
  // Extends `state`, which is the complement of a checksum.
  std::uint32_t (*extend)(std::uint32_t state, const std::byte* bytes, std::size_t count) noexcept;
};

}  // namespace rota::kernels

// FNV-1a with 64 bits shows whether two byte sequences are equal. It does not prove who made them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace rota::base {

inline constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;

// Continues from `hash`, so that several byte sequences can be hashed one after another.
constexpr std::uint64_t fnv1a(std::span<const std::byte> bytes,
                              std::uint64_t hash = kFnvStart) noexcept {
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace rota::base

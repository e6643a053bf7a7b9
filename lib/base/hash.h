// FNV-1a with 64 bits: tells whether two runs of bytes are the same, not who made them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace rota::base {

inline constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;

// Goes on from `hash`, so that runs can be hashed one after the other.
constexpr std::uint64_t fnv1a(std::span<const std::byte> bytes,
                              std::uint64_t hash = kFnvStart) noexcept {
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace rota::base

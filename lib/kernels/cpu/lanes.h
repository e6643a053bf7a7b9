// What all loops are made of: lanes that are loaded from memory and stored to it, whole or in part.
// The file of an instruction set first defines ROTA_TARGET and, in this namespace, Lanes<T>: as
// many T as it works on at once.
#pragma once
#include <cstddef>
#include <cstring>

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// What is computed in the type that it is stored in. Alignment does not matter.
template <class T>
struct Same {
  using Number = T;  // That is computed with.
  static constexpr std::size_t kElementBytes = sizeof(T);
  static constexpr std::size_t kCount = sizeof(Lanes<T>) / kElementBytes;

  ROTA_TARGET static Lanes<T> load(const std::byte* from) noexcept {
    Lanes<T> lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
  }
  ROTA_TARGET static void store(std::byte* to, Lanes<T> lanes) noexcept {
    std::memcpy(to, &lanes, sizeof(lanes));
  }
};

// The same address, of which the compiler no longer knows what lies there. It would take a local
// for as well aligned as lanes are, which GCC 12 does not see to where AddressSanitizer keeps
// locals on its heap.
inline std::byte* anywhere(std::byte* address) noexcept {
  asm("" : "+r"(address)::"memory");
  return address;
}

// For the end of a run, where there are fewer elements than lanes: by way of a buffer that has all.
template <class Format>
ROTA_TARGET auto load_some(const std::byte* from, std::size_t count) noexcept {
  std::byte all[Format::kCount * Format::kElementBytes] = {};
  std::memcpy(all, from, count * Format::kElementBytes);
  return Format::load(anywhere(all));
}

template <class Format, class L>
ROTA_TARGET void store_some(std::byte* to, L lanes, std::size_t count) noexcept {
  std::byte all[Format::kCount * Format::kElementBytes];
  Format::store(anywhere(all), lanes);
  std::memcpy(to, all, count * Format::kElementBytes);
}

}  // namespace
}  // namespace rota::kernels::cpu

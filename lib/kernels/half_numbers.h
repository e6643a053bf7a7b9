// Has 16-bit floats for loops that compute with one float at a time. The including file first
// defines ROTA_TARGET.
#pragma once
#include <cstddef>
#include <cstring>

#include <rota/float16.h>

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

template <class Half>
struct HalfLanes {
  using Number = float;
  static constexpr std::size_t kCount = 1;
  static constexpr std::size_t kElementBytes = sizeof(Half);

  ROTA_TARGET static float load(const std::byte* from) noexcept {
    Half half;
    std::memcpy(&half, from, sizeof(half));
    return static_cast<float>(half);
  }
  ROTA_TARGET static void store(std::byte* to, float value) noexcept {
    const Half half(value);
    std::memcpy(to, &half, sizeof(half));
  }
};
using Float16Lanes = HalfLanes<Float16>;
using Bfloat16Lanes = HalfLanes<Bfloat16>;

}  // namespace
}  // namespace rota::kernels::cpu

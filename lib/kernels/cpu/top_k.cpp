// The top-k codec selects elements by magnitude.
#include "kernels/cpu/top_k.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>

namespace rota::kernels::cpu {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fff'ffff;

std::uint32_t bits_at(const std::byte* values, std::size_t index) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, values + index * sizeof(bits), sizeof(bits));
  return bits;
}

}  // namespace

// Compares magnitudes by their bits, which have the same order as the numbers.
void encode_top_k(std::byte* coded, const std::byte* values, std::size_t count) noexcept {
  std::array<std::uint32_t, kTopKBlock> order{};
  for (std::size_t i = 0; i < count; ++i) order[i] = bits_at(values, i) & kMagnitude;
  const std::size_t kept = top_k_of(count);
  const auto least = order.begin() + static_cast<std::ptrdiff_t>(kept - 1);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(order.begin(), least, end, std::greater<>());
  const std::uint32_t threshold = *least;
  auto ties =
      kept - static_cast<std::size_t>(std::count_if(
                 order.begin(), least, [&](std::uint32_t each) { return each > threshold; }));
  std::byte* place_to = coded;
  std::byte* value_to = coded + kept * sizeof(std::uint16_t);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = bits_at(values, i);
    const std::uint32_t magnitude = bits & kMagnitude;
    if (magnitude < threshold || (magnitude == threshold && ties == 0)) continue;
    if (magnitude == threshold) --ties;
    const auto place = static_cast<std::uint16_t>(i);
    std::memcpy(place_to, &place, sizeof(place));
    std::memcpy(value_to, &bits, sizeof(bits));
    place_to += sizeof(place);
    value_to += sizeof(bits);
  }
}

void decode_top_k(std::array<float, kTopKBlock>& values, const std::byte* coded,
                  std::size_t count) noexcept {
  values.fill(0);
  const std::size_t kept = top_k_of(count);
  const std::byte* value_from = coded + kept * sizeof(std::uint16_t);
  for (std::size_t i = 0; i < kept; ++i) {
    std::uint16_t place = 0;
    std::memcpy(&place, coded + i * sizeof(place), sizeof(place));
    if (place < count) std::memcpy(&values[place], value_from + i * sizeof(float), sizeof(float));
  }
}

}  // namespace rota::kernels::cpu

// Draws normally distributed numbers by position, with Philox and the Box-Muller transform.
#include "nn/initializer.h"

#include <array>
#include <cmath>
#include <numbers>

#include "nn/random.h"

namespace rota::nn {
namespace {

// Returns two independent draws from N(0, 1), by the Box-Muller transform.
std::array<double, 2> normal_pair(const RandomBlock& random) noexcept {
  constexpr double kUnit = 0x1p-53;
  const double radius_share =
      static_cast<double>((join(random[0], random[1]) >> 11) + 1) * kUnit;  // In (0, 1].
  const double angle_share = static_cast<double>(join(random[2], random[3]) >> 11) * kUnit;
  const double radius = std::sqrt(-2 * std::log(radius_share));
  const double angle = 2 * std::numbers::pi * angle_share;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace

double weight_deviation(Initializer initializer, std::size_t inputs, std::size_t outputs) noexcept {
  switch (initializer) {
    case Initializer::kHe:
      return std::sqrt(2 / static_cast<double>(inputs));
    case Initializer::kGlorot:
      return std::sqrt(2 / static_cast<double>(inputs + outputs));
    case Initializer::kStandardNormal:
      return 1;
  }
  return 0;
}

double bias_deviation(Initializer initializer) noexcept {
  return initializer == Initializer::kStandardNormal ? 1 : 0;
}

template <class T>
void fill_normal(std::span<T> values, double deviation, std::uint64_t seed, std::size_t parameter) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const std::uint64_t pair = i / 2;
    const std::array<double, 2> normal = normal_pair(
        philox(seed, {static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32),
                      static_cast<std::uint32_t>(parameter), kInitializerStream}));
    values[i] = static_cast<T>(deviation * normal[0]);
    if (i + 1 < values.size()) values[i + 1] = static_cast<T>(deviation * normal[1]);
  }
}

template void fill_normal(std::span<float>, double, std::uint64_t, std::size_t);
template void fill_normal(std::span<double>, double, std::uint64_t, std::size_t);

}  // namespace rota::nn

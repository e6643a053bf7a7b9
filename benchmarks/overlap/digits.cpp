// Draws digits as bars.
#include "overlap/digits.h"

#include <random>

namespace rota::bench {
namespace {

constexpr std::size_t kRows = 28;
constexpr std::size_t kColumns = 28;
constexpr std::size_t kClasses = 10;
constexpr std::size_t kMargin = 4;
constexpr std::size_t kThickness = 2;
constexpr std::uint8_t kInk = 255;
constexpr std::uint32_t kNoise = 32;

bool is_bar(std::size_t label, std::size_t row, std::size_t column) {
  const std::size_t top = kMargin + kThickness * label;
  return row >= top && row < top + kThickness && column >= kMargin && column < kColumns - kMargin;
}

}  // namespace

Dataset make_digits(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  Dataset digits{.shape = {kRows, kColumns, 1}, .classes = kClasses, .pixels = {}, .labels = {}};
  digits.pixels.reserve(count * digits.shape.count());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t label = random() % kClasses;
    digits.labels.push_back(static_cast<std::uint8_t>(label));
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        const auto noise = static_cast<std::uint8_t>(random() % kNoise);
        digits.pixels.push_back(is_bar(label, row, column) ? kInk : noise);
      }
    }
  }
  return digits;
}

}  // namespace rota::bench

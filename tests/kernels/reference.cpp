// Converts 16-bit floats with double arithmetic, and lists the counts that the tests of kernels
// use.
#include "kernels/reference.h"

namespace rota::kernels::testing {
namespace {

int bias_of(HalfFormat format) { return (1 << (format.exponent_bits - 1)) - 1; }

}  // namespace

double decode(std::uint16_t bits, HalfFormat format) {
  const int fraction_count = 1 << format.fraction_bits;
  const int last_exponent = (1 << format.exponent_bits) - 1;
  const int fraction = bits % fraction_count;
  const int exponent = bits / fraction_count % (last_exponent + 1);
  const double sign = bits >= 0x8000 ? -1 : 1;
  if (exponent == last_exponent) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  const int significand = exponent == 0 ? fraction : fraction_count + fraction;
  const int power = (exponent == 0 ? 1 : exponent) - bias_of(format) - format.fraction_bits;
  return sign * std::ldexp(significand, power);
}

std::uint16_t encode(double value, HalfFormat format) {
  const int last_exponent = (1 << format.exponent_bits) - 1;
  const int fraction_count = 1 << format.fraction_bits;
  const int infinity = last_exponent * fraction_count;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign + infinity + 1);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign + infinity);
  // The value's exponent decides the weight of the last bit. The least weight is that of a
  // subnormal number's last bit.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias_of(format));
  const double in_last_bits = std::ldexp(magnitude, format.fraction_bits - exponent);
  const auto significand = static_cast<int>(std::nearbyint(in_last_bits));
  // The leading bit of a normal significand adds one to the exponent. So a carry out of the
  // significand also gives the right exponent.
  const int bits = significand + (exponent + bias_of(format) - 1) * fraction_count;
  return static_cast<std::uint16_t>(sign + std::min(bits, infinity));
}

std::vector<std::size_t> awkward_counts() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 70; ++count) counts.push_back(count);
  counts.insert(counts.end(), {97, 127, 128, 131, 191, 1009, 4099});
  return counts;
}

}  // namespace rota::kernels::testing

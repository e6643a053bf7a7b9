// Every 16-bit float converts to float and back unchanged, and floats are rounded correctly to 16
// bits.
#include <gtest/gtest.h>
#include <rota/float16.h>

#include <limits>
#include <vector>

#include "kernels/reference.h"

namespace rota {
namespace {

using kernels::testing::decode;
using kernels::testing::encode;
using kernels::testing::kFormatOf;

template <class T>
class HalfTest : public ::testing::Test {};
using HalfTypes = ::testing::Types<Float16, Bfloat16>;
TYPED_TEST_SUITE(HalfTest, HalfTypes);

static_assert(sizeof(Float16) == 2 && std::is_trivial_v<Float16>);
static_assert(sizeof(Bfloat16) == 2 && std::is_trivial_v<Bfloat16>);
static_assert(!std::is_convertible_v<float, Float16> && !std::is_convertible_v<Float16, float>);
static_assert(Float16(1.0F).bits() == 0x3c00 && Bfloat16(1.0F).bits() == 0x3f80);

template <class T>
std::vector<T> all_values() {
  std::vector<T> values;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    values.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  }
  return values;
}

TYPED_TEST(HalfTest, IsTheNumberThatItsBitsDefine) {
  for (const TypeParam value : all_values<TypeParam>()) {
    const double expected = decode(value.bits(), kFormatOf<TypeParam>);
    const auto number = static_cast<float>(value);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(number)) << value.bits();
    } else {
      EXPECT_EQ(static_cast<double>(number), expected) << value.bits();
      EXPECT_EQ(std::signbit(number), std::signbit(expected)) << value.bits();
    }
  }
}

TYPED_TEST(HalfTest, ComesBackFromAFloatAsItWas) {
  for (const TypeParam value : all_values<TypeParam>()) {
    const auto number = static_cast<float>(value);
    const TypeParam back(number);
    if (std::isnan(number)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(back))) << value.bits();
    } else {
      EXPECT_EQ(back.bits(), value.bits());
    }
  }
}

// Method: halfway between each two neighbours is a tie, which a float holds exactly. The tie must
// become the even neighbour, and the floats next to the tie must become the nearer neighbour. The
// last neighbour is infinity, at the next power of two.
TYPED_TEST(HalfTest, RoundsToNearestAndTiesToEven) {
  const auto infinity = encode(HUGE_VAL, kFormatOf<TypeParam>);
  for (unsigned bits = 0; bits < infinity; ++bits) {
    const double low = decode(static_cast<std::uint16_t>(bits), kFormatOf<TypeParam>);
    const double before =
        bits == 0 ? 0 : decode(static_cast<std::uint16_t>(bits - 1), kFormatOf<TypeParam>);
    const double high = bits + 1 == infinity
                            ? low + (low - before)
                            : decode(static_cast<std::uint16_t>(bits + 1), kFormatOf<TypeParam>);
    const auto tie = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(tie), (low + high) / 2);
    for (const float sign : {1.0F, -1.0F}) {
      const unsigned negative = sign < 0 ? 0x8000U : 0U;
      EXPECT_EQ(TypeParam(sign * tie).bits(), negative | (bits + bits % 2));
      EXPECT_EQ(TypeParam(sign * std::nextafter(tie, 0.0F)).bits(), negative | bits);
      EXPECT_EQ(TypeParam(sign * std::nextafter(tie, HUGE_VALF)).bits(), negative | (bits + 1));
    }
  }
}

// Method: the test goes through the bit patterns of all floats in steps of a prime number. Each
// result is compared with double arithmetic.
TYPED_TEST(HalfTest, RoundsAnyFloatAsDoubleArithmeticDoes) {
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 9973) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const TypeParam rounded(number);
    if (std::isnan(number)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(rounded))) << bits;
    } else {
      ASSERT_EQ(rounded.bits(), encode(number, kFormatOf<TypeParam>)) << bits;
    }
  }
}

TYPED_TEST(HalfTest, KeepsNaNWhateverItsPayload) {
  for (const std::uint32_t payload : {1U, 0x1fffU, 0xffffU, 0x40'0000U, 0x7f'ffffU}) {
    for (const std::uint32_t sign : {0U, 0x8000'0000U}) {
      const auto nan = std::bit_cast<float>(0x7f80'0000U | payload | sign);
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(nan)))) << payload;
      EXPECT_EQ(TypeParam(nan).bits() >> 15, sign >> 31);
    }
  }
}

TYPED_TEST(HalfTest, IsEqualAsNumbersAre) {
  const TypeParam nan(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(TypeParam(0.0F), TypeParam(-0.0F));
  EXPECT_EQ(TypeParam(1.5F), TypeParam(1.5F));
  EXPECT_NE(TypeParam(1.5F), TypeParam(-1.5F));
  EXPECT_NE(nan, nan);
}

}  // namespace
}  // namespace rota

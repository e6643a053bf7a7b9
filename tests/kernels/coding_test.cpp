// Encodes and decodes floats with every codec: every variant gives the reference's bits, and the
// reference loses exactly what the format of the codec allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <rota/float16.h>

#include "kernels/codings.h"
#include "kernels/reference.h"

namespace rota::kernels {
namespace {

using testing::supported;

constexpr Codec kCodecs[] = {Codec::kBfloat16, Codec::kFloat16, Codec::kInt8,
                             Codec::kInt8Stochastic, Codec::kTopK};
constexpr Dither kDither{.key = 99, .first = 512};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> normal_values(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<std::byte> encoded(const Codings& codings, Codec codec, std::span<const float> values,
                               Dither dither = kDither) {
  constexpr std::byte kGuard{0x5a};
  const std::size_t bytes = coded_bytes(codec, values.size());
  std::vector<std::byte> coded(bytes + 64, kGuard);
  codings.coding(codec).encode(coded.data(), std::as_bytes(values).data(), values.size(), dither);
  EXPECT_TRUE(std::all_of(coded.begin() + static_cast<std::ptrdiff_t>(bytes), coded.end(),
                          [&](std::byte each) { return each == kGuard; }))
      << codings.variant->name << " writes beyond " << bytes << " bytes of " << to_string(codec);
  coded.resize(bytes);
  return coded;
}

using Decode = Coding::Decode;

std::vector<float> decoded(Decode decode, std::span<const std::byte> coded,
                           std::span<const float> from, float factor) {
  std::vector<float> to(from.size());
  decode(std::as_writable_bytes(std::span(to)).data(), std::as_bytes(from).data(), coded.data(),
         from.size(), factor);
  return to;
}

std::vector<float> there_and_back(Codec codec, std::span<const float> values,
                                  Dither dither = kDither) {
  const auto coded = encoded(reference<Codings>(), codec, values, dither);
  return decoded(reference<Codings>().coding(codec).decode, coded, values, 1);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto same = [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  };
  return std::ranges::equal(a, b, same);
}

TEST(Coding, OfEveryVariantIsTheReferences) {
  for (const Codings* codings : supported<Codings>()) {
    for (const Codec codec : kCodecs) {
      for (const std::size_t count : {1, 7, 8, 15, 16, 17, 255, 256, 257, 1000, 4096, 10001}) {
        SCOPED_TRACE(std::string(codings->variant->name) + " " + std::string(to_string(codec)) +
                     " " + std::to_string(count));
        const std::vector<float> values = normal_values(count);
        const std::vector<float> from = normal_values(count, 2);
        const auto coded = encoded(*codings, codec, values);
        ASSERT_EQ(coded, encoded(reference<Codings>(), codec, values));
        for (const auto decode : {&Coding::decode, &Coding::add, &Coding::lose}) {
          ASSERT_TRUE(
              same_bits(decoded(codings->coding(codec).*decode, coded, from, 0.3F),
                        decoded(reference<Codings>().coding(codec).*decode, coded, from, 0.3F)));
        }
      }
    }
  }
}

TEST(Coding, OfOddNumbersIsTheReferencesToo) {
  std::vector<float> values = normal_values(600);
  const float odd[] = {0.0F,      -0.0F,     kInfinity, -kInfinity, kNan,      1e-45F,
                       1e-38F,    3.4e38F,   -3.4e38F,  65504.0F,   65519.99F, 65520.0F,
                       1.003906F, 1.011719F, 5.96e-8F,  2.98e-8F,   -1e-7F,    127.5F};
  std::copy(std::begin(odd), std::end(odd), values.begin() + 290);
  for (const Codings* codings : supported<Codings>()) {
    for (const Codec codec : kCodecs) {
      SCOPED_TRACE(std::string(codings->variant->name) + " " + std::string(to_string(codec)));
      const auto own = encoded(*codings, codec, values);
      const auto expected = encoded(reference<Codings>(), codec, values);
      EXPECT_TRUE(
          same_bits(decoded(codings->coding(codec).decode, own, values, 1),
                    decoded(reference<Codings>().coding(codec).decode, expected, values, 1)));
    }
  }
}

TEST(Coding, OfHalvesIsTheTypesOwnRounding) {
  const std::vector<float> values = normal_values(1000);
  const auto bfloats = there_and_back(Codec::kBfloat16, values);
  const auto halves = there_and_back(Codec::kFloat16, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(bfloats[i], static_cast<float>(Bfloat16(values[i])));
    EXPECT_EQ(halves[i], static_cast<float>(Float16(values[i])));
  }
}

TEST(Coding, AsInt8IsOffByHalfAStepAtMost) {
  const std::vector<float> values = normal_values(3000);
  for (const Codec codec : {Codec::kInt8, Codec::kInt8Stochastic}) {
    const auto result = there_and_back(codec, values);
    const float steps = codec == Codec::kInt8 ? 0.5001F : 1.0001F;
    for (std::size_t block = 0; block < values.size(); block += kInt8Block) {
      const std::size_t end = std::min(values.size(), block + kInt8Block);
      float largest = 0;
      for (std::size_t i = block; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
      for (std::size_t i = block; i < end; ++i) {
        ASSERT_LE(std::abs(result[i] - values[i]), largest / 127 * steps) << i;
      }
    }
  }
}

// If 0.3 steps were rounded to the nearest step, every result would be 0.
TEST(Coding, ByChanceIsRightOnAverage) {
  std::vector<float> values(kInt8Block, 0.3F);
  values[0] = 127;
  double sum = 0;
  constexpr std::uint32_t kKeys = 200;
  for (std::uint32_t key = 0; key < kKeys; ++key) {
    const auto result = there_and_back(Codec::kInt8Stochastic, values, {.key = key, .first = 0});
    for (std::size_t i = 1; i < result.size(); ++i) sum += result[i];
  }
  EXPECT_NEAR(sum / (kKeys * (kInt8Block - 1)), 0.3, 0.01);
  EXPECT_EQ(there_and_back(Codec::kInt8, values)[1], 0);
}

TEST(Coding, ByChanceDependsOnKeyAndPlaceAlone) {
  const std::vector<float> values = normal_values(1024);
  const auto whole = there_and_back(Codec::kInt8Stochastic, values, {.key = 5, .first = 0});
  const auto rest = there_and_back(Codec::kInt8Stochastic, std::span(values).subspan(512),
                                   {.key = 5, .first = 512});
  EXPECT_TRUE(std::ranges::equal(rest, std::span(whole).subspan(512)));
  EXPECT_NE(there_and_back(Codec::kInt8Stochastic, values, {.key = 6, .first = 0}), whole);
}

TEST(Coding, AsTopKKeepsTheLargest) {
  std::vector<float> values = normal_values(kTopKBlock + 130);
  const auto result = there_and_back(Codec::kTopK, values);
  const auto kept_of = [&](std::size_t begin, std::size_t count, std::size_t kept) {
    float least_kept = kInfinity;
    float most_dropped = 0;
    std::size_t found = 0;
    for (std::size_t i = begin; i < begin + count; ++i) {
      if (result[i] == 0) {
        most_dropped = std::max(most_dropped, std::abs(values[i]));
        continue;
      }
      EXPECT_EQ(result[i], values[i]);
      least_kept = std::min(least_kept, std::abs(values[i]));
      ++found;
    }
    EXPECT_EQ(found, kept);
    EXPECT_GE(least_kept, most_dropped);
  };
  kept_of(0, kTopKBlock, 64);
  kept_of(kTopKBlock, 130, 3);
}

TEST(Coding, AsTopKTakesTheFirstOfEquals) {
  const std::vector<float> values(200, -1.0F);
  const auto result = there_and_back(Codec::kTopK, values);
  EXPECT_TRUE(std::all_of(result.begin(), result.begin() + 4, [](float x) { return x == -1; }));
  EXPECT_TRUE(std::all_of(result.begin() + 4, result.end(), [](float x) { return x == 0; }));
}

// A coded block of top-k has the positions of its values. Here a position is outside of the block.
// Only a broken peer could send such a block.
TEST(Coding, AsTopKPassesOverPlacesThatDoNotExist) {
  std::vector<std::byte> coded(coded_bytes(Codec::kTopK, 10), std::byte{0xff});
  const std::vector<float> from(10, 1.0F);
  EXPECT_EQ(decoded(reference<Codings>().coding(Codec::kTopK).decode, coded, from, 1),
            std::vector<float>(10, 0.0F));
}

// A codec must not hide that training has diverged: NaN and infinity do not become numbers.
TEST(Coding, NeverMakesANumberOfWhatIsNone) {
  for (const Codec codec : kCodecs) {
    for (const float odd : {kInfinity, -kInfinity, kNan}) {
      std::vector<float> values = normal_values(300);
      values[40] = odd;
      EXPECT_FALSE(std::isfinite(there_and_back(codec, values)[40])) << to_string(codec);
    }
  }
}

// Processors do not agree on the last bits of a NaN, which would be the bytes of a block.
TEST(Coding, AsInt8HasTheSameBytesForAllThatIsNoNumber) {
  const float odd[] = {kInfinity, -kInfinity, kNan, -kNan, std::bit_cast<float>(0x7fc0'0001U)};
  for (const Codings* codings : supported<Codings>()) {
    for (const Codec codec : {Codec::kInt8, Codec::kInt8Stochastic}) {
      for (const float number : odd) {
        std::vector<float> values = normal_values(300);
        std::vector<std::byte> expected = encoded(*codings, codec, values);
        std::ranges::fill(std::span(expected).first(sizeof(float) + kInt8Block), std::byte{0});
        std::memcpy(expected.data(), &kNan, sizeof(kNan));
        values[40] = number;
        EXPECT_EQ(encoded(*codings, codec, values), expected)
            << codings->variant->name << ", " << to_string(codec) << ", " << number;
      }
    }
  }
}

TEST(Coding, LosesWhatItSaysItLost) {
  const std::vector<float> values = normal_values(5000);
  for (const Codec codec : kCodecs) {
    const auto coded = encoded(reference<Codings>(), codec, values);
    const Coding& coding = reference<Codings>().coding(codec);
    const auto result = decoded(coding.decode, coded, values, 1);
    const auto lost = decoded(coding.lose, coded, values, 3);
    const auto twice = decoded(coding.add, coded, values, 0.5F);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(lost[i], (values[i] - result[i]) * 3) << to_string(codec);
      ASSERT_EQ(twice[i], (values[i] + result[i]) * 0.5F) << to_string(codec);
    }
  }
}

// What a codec loses of a value is added to the value of the next step. A loss that is not finite
// would spoil all later steps, so it counts as 0. With int8, this also holds for the finite values
// in the block of an infinity or NaN.
TEST(Coding, LosesNothingWhereThatIsNotFinite) {
  for (const Codings* codings : supported<Codings>()) {
    for (const Codec codec : kCodecs) {
      for (const float odd : {kInfinity, -kInfinity, kNan}) {
        std::vector<float> values = normal_values(300);
        values[40] = odd;
        const auto coded = encoded(*codings, codec, values);
        const auto lost = decoded(codings->coding(codec).lose, coded, values, 1);
        EXPECT_TRUE(std::ranges::all_of(lost, [](float x) { return std::isfinite(x); }))
            << codings->variant->name << ", " << to_string(codec) << ", " << odd;
      }
    }
  }
}

// The documentation and rota/codec.h give these bytes per element.
TEST(Coding, TakesTheBytesThatTheHeaderSays) {
  const auto per_element = [](Codec codec) {
    return static_cast<double>(coded_bytes(codec, 1 << 20)) / (1 << 20);
  };
  EXPECT_EQ(per_element(Codec::kIdentity), 4);
  EXPECT_EQ(per_element(Codec::kBfloat16), 2);
  EXPECT_EQ(per_element(Codec::kFloat16), 2);
  EXPECT_NEAR(per_element(Codec::kInt8), 1.02, 0.005);
  EXPECT_NEAR(per_element(Codec::kInt8Stochastic), 1.02, 0.005);
  EXPECT_NEAR(per_element(Codec::kTopK), 0.1, 0.01);
}

TEST(Coding, IsKnownByName) {
  for (const Codec codec : kCodecs) EXPECT_EQ(codec_named(to_string(codec)), codec);
  EXPECT_EQ(codec_named("identity"), Codec::kIdentity);
  EXPECT_EQ(codec_named("int4"), std::nullopt);
  EXPECT_EQ(to_string(static_cast<Codec>(77)), "unknown");
}

}  // namespace
}  // namespace rota::kernels

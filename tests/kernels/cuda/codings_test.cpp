// Runs the codecs for GPUs. Coded bytes and decoded values must be those of the CPU's "scalar".
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/cuda/guarded.h"

namespace rota::kernels::cuda::testing {
namespace {

constexpr Codec kCodecs[] = {Codec::kBfloat16, Codec::kFloat16, Codec::kInt8,
                             Codec::kInt8Stochastic, Codec::kTopK};
constexpr Dither kDither{.key = 99, .first = 0xffff'fe00};  // Positions wrap.
constexpr std::size_t kCodedCounts[] = {1, 8, 17, 255, 256, 257, 2048, 4096, 4097, 10001};
constexpr std::size_t kCodedShifts[] = {0, 4, 8, 3};

std::vector<float> numbers(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<std::byte> coded_by_scalar(Codec codec, const std::vector<float>& values) {
  std::vector<std::byte> coded(coded_bytes(codec, values.size()));
  reference<Codings>().coding(codec).encode(coded.data(), std::as_bytes(std::span(values)).data(),
                                            values.size(), kDither);
  return coded;
}

std::vector<float> decoded_by_scalar(Coding::Decode decode, const std::vector<std::byte>& coded,
                                     const std::vector<float>& from, float factor) {
  std::vector<float> to(from.size());
  decode(std::as_writable_bytes(std::span(to)).data(), std::as_bytes(std::span(from)).data(),
         coded.data(), from.size(), factor);
  return to;
}

void expect_scalar_code(Codec codec, const std::vector<float>& values, std::size_t shift) {
  SCOPED_TRACE(std::string(to_string(codec)) + ", count " + std::to_string(values.size()) +
               ", shift " + std::to_string(shift));
  const std::vector<std::byte> expected = coded_by_scalar(codec, values);
  in_every_way([&](const Queue& queue) {
    Guarded<float> from(values, 2 * shift);
    Guarded<std::byte> coded(std::vector<std::byte>(expected.size()), shift);
    ASSERT_EQ(launches().of(codec).encode(queue, coded.data(), from.data(), values.size(), kDither),
              0);
    ASSERT_EQ(coded.values(), expected);
    ASSERT_TRUE(coded.is_intact_around());
  });
}

TEST(GpuCodings, EncodeWithTheBytesOfScalar) {
  for (const Codec codec : kCodecs) {
    for (const std::size_t count : kCodedCounts) {
      for (const std::size_t shift : kCodedShifts) {
        expect_scalar_code(codec, numbers(count), shift);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Equal magnitudes decide whether top-k takes the first ones; a block of zeros has no largest one;
// tiny, huge and subnormal numbers have steps that overflow or vanish.
TEST(GpuCodings, EncodeOddNumbersWithTheBytesOfScalar) {
  std::vector<std::vector<float>> all;
  all.emplace_back(5000, -1.0F);
  all.emplace_back(5000, 0.0F);
  all.push_back(numbers(5000));
  for (std::size_t i = 0; i < 5000; i += 3) all.back()[i] = i % 2 == 0 ? 0.5F : -0.5F;
  all.push_back(numbers(5000));
  const float odd[] = {0.0F,     -0.0F,    1e-45F,    1e-38F,   3.4e38F,  -3.4e38F,
                       65504.0F, 65520.0F, 1.003906F, 5.96e-8F, 2.98e-8F, 1e-36F};
  for (std::size_t i = 0; i < 5000; i += 100) all.back()[i] = odd[i / 100 % std::size(odd)];
  for (const std::vector<float>& values : all) {
    for (const Codec codec : kCodecs) expect_scalar_code(codec, values, 4);
  }
}

void expect_scalar_values(Codec codec, const std::vector<std::byte>& coded,
                          const std::vector<float>& from_values, std::size_t shift) {
  constexpr float kFactor = 0.3F;
  const Coding& scalar = reference<Codings>().coding(codec);
  const CodingLaunches& own = launches().of(codec);
  const std::pair<CodingLaunches::Decode, Coding::Decode> all[] = {
      {own.decode, scalar.decode}, {own.add, scalar.add}, {own.lose, scalar.lose}};
  for (const auto& [decode, expected] : all) {
    const auto values = decoded_by_scalar(expected, coded, from_values, kFactor);
    in_every_way([&, decode = decode](const Queue& queue) {
      Guarded<std::byte> source(coded, 2 * shift);
      Guarded<float> from(from_values, shift);
      Guarded<float> to(from_values, 3 * shift);
      ASSERT_EQ(decode(queue, to.data(), from.data(), source.data(), from_values.size(), kFactor),
                0);
      expect_same(to.values(), values);
      ASSERT_TRUE(to.is_intact_around());
      ASSERT_EQ(decode(queue, from.data(), from.data(), source.data(), from_values.size(), kFactor),
                0);
      expect_same(from.values(), values);
      ASSERT_TRUE(from.is_intact_around());
    });
  }
}

TEST(GpuCodings, DecodeWithTheBitsOfScalar) {
  for (const Codec codec : kCodecs) {
    for (const std::size_t count : kCodedCounts) {
      for (const std::size_t shift : kCodedShifts) {
        SCOPED_TRACE(std::string(to_string(codec)) + ", count " + std::to_string(count) +
                     ", shift " + std::to_string(shift));
        expect_scalar_values(codec, coded_by_scalar(codec, numbers(count)), numbers(count, 2),
                             shift);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The last bits of a NaN are others on a GPU, where an infinity would so become -1 steps.
TEST(GpuCodings, EncodeBlocksThatAreNoNumbersWithTheBytesOfScalar) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const Codec codec : {Codec::kInt8, Codec::kInt8Stochastic}) {
      std::vector<float> values = numbers(600);
      values[40] = odd;
      values[41] = kInfinity;
      values[599] = odd;
      expect_scalar_code(codec, values, 4);
    }
  }
}

// A codec must not hide that training has diverged: NaN and infinity do not become numbers.
TEST(GpuCodings, NeverMakeANumberOfWhatIsNone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const Codec codec : kCodecs) {
      SCOPED_TRACE(std::string(to_string(codec)) + " of " + std::to_string(odd));
      std::vector<float> values = numbers(600);
      values[40] = odd;
      Guarded<float> from(values, 0);
      Guarded<std::byte> coded(std::vector<std::byte>(coded_bytes(codec, values.size())), 0);
      const Queue queue = {nullptr, 2};
      ASSERT_EQ(
          launches().of(codec).encode(queue, coded.data(), from.data(), values.size(), kDither), 0);
      expect_scalar_values(codec, coded_by_scalar(codec, values), numbers(600, 2), 0);
      ASSERT_EQ(launches().of(codec).decode(queue, from.data(), from.data(), coded.data(),
                                            values.size(), 1),
                0);
      EXPECT_FALSE(std::isfinite(from.values()[40]));
    }
  }
}

// A position that is outside of the block could only come from a broken peer.
TEST(GpuCodings, PassOverPlacesThatDoNotExist) {
  const std::vector<std::byte> coded(coded_bytes(Codec::kTopK, 5000), std::byte{0xff});
  expect_scalar_values(Codec::kTopK, coded, numbers(5000), 0);
}

}  // namespace
}  // namespace rota::kernels::cuda::testing

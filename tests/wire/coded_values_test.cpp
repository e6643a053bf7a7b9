// Coded values have the same bytes on every machine, whichever instructions encode them.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "kernels/codings.h"
#include "wire/digits.h"

namespace rota::testing {
namespace {

std::string coded(const kernels::Codings& codings, Codec codec, const std::vector<float>& values) {
  std::vector<std::byte> bytes(kernels::coded_bytes(codec, values.size()));
  codings.coding(codec).encode(bytes.data(), std::as_bytes(std::span(values)).data(), values.size(),
                               {.key = 1, .first = 0});
  return digits_of(bytes);
}

class CodedValues : public ::testing::TestWithParam<const kernels::Codings*> {};

TEST_P(CodedValues, OfSixteenBitsAreOneAfterAnother) {
  EXPECT_EQ(coded(*GetParam(), Codec::kBfloat16, {1, -2, 0.5}), "803f00c0003f");
  EXPECT_EQ(coded(*GetParam(), Codec::kFloat16, {1, -2, 0.5}), "003c00c00038");
}

TEST_P(CodedValues, OfEightBitsFollowTheStepOfTheirBlock) {
  for (const Codec codec : {Codec::kInt8, Codec::kInt8Stochastic}) {
    EXPECT_EQ(coded(*GetParam(), codec, {127, -127, 1}), joined({"0000803f", "7f", "81", "01"}));
  }
}

TEST_P(CodedValues, OfTopKAreAllPositionsAndThenAllValues) {
  std::vector<float> values(65);
  values[5] = 3;
  values[64] = -2;
  EXPECT_EQ(coded(*GetParam(), Codec::kTopK, values),
            joined({"0500", "4000", "00004040", "000000c0"}));
}

std::vector<const kernels::Codings*> supported_codings() {
  std::vector<const kernels::Codings*> all;
  for (const kernels::Codings* codings : kernels::Codings::table()) {
    if (codings->variant->supported()) all.push_back(codings);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, CodedValues, ::testing::ValuesIn(supported_codings()),
                         [](const auto& each) { return std::string(each.param->variant->name); });

}  // namespace
}  // namespace rota::testing

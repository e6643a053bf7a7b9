// The transforms of tiles together compute a convolution, and every variant gives the bits of
// "scalar".
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/reference.h"
#include "kernels/tiles.h"
#include "kernels/toy_variant.h"

namespace rota::kernels {
namespace {

using testing::any_values;
using testing::same;
using testing::supported;

constexpr std::size_t kPointRows = 8;
constexpr std::size_t kPoints = kPointRows * kPointRows;

// Returns the steps of a tile whose elements lie one after the other.
TileSteps dense(std::size_t side, std::size_t count) { return {side * count, count}; }

class TilesTest : public ::testing::TestWithParam<std::size_t> {};

// The expected values are sums of products of small integers, which are exact. So any difference
// from them is the rounding of the transforms.
TEST_P(TilesTest, MakeAConvolution) {
  const std::size_t window = GetParam();
  const std::size_t side = kPointRows + 1 - window;
  const auto& tiles = reference<Tiles>().transforms<double>(window);
  std::vector<double> inputs(kPoints);
  std::vector<double> weights(window * window);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<double>(i * 5 % 17) - 8;
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i * 7 % 11) - 5;

  std::vector<double> products(kPoints);
  std::vector<double> expanded(kPoints);
  tiles.inputs.expand(inputs.data(), dense(kPointRows, 1), products.data(), dense(kPointRows, 1),
                      1);
  tiles.weights.expand(weights.data(), dense(window, 1), expanded.data(), dense(kPointRows, 1), 1);
  for (std::size_t i = 0; i < kPoints; ++i) products[i] *= expanded[i];
  std::vector<double> outputs(side * side, 0.5);
  tiles.outputs.contract_add(products.data(), dense(kPointRows, 1), outputs.data(), dense(side, 1),
                             1);

  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t column = 0; column < side; ++column) {
      double sum = 0.5;  // The earlier value.
      for (std::size_t i = 0; i < window; ++i) {
        for (std::size_t j = 0; j < window; ++j) {
          sum += weights[i * window + j] * inputs[(row + i) * kPointRows + column + j];
        }
      }
      EXPECT_NEAR(outputs[row * side + column], sum, 1e-11) << row << ", " << column;
    }
  }
}

// For all a and b, the scalar product of contracted a and b equals the scalar product of a and
// expanded b.
TEST_P(TilesTest, ContractAsTheTransposeOfWhatTheyExpand) {
  const std::size_t window = GetParam();
  const auto& tiles = reference<Tiles>().transforms<double>(window);
  const auto expect_transposed = [](const TileTransform<double>& transform, std::size_t side) {
    std::vector<double> a(kPoints);
    std::vector<double> b(side * side);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * 5 % 17) - 8;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i * 7 % 11) - 5;
    std::vector<double> contracted(b.size());
    std::vector<double> expanded(a.size());
    transform.contract_add(a.data(), dense(kPointRows, 1), contracted.data(), dense(side, 1), 1);
    transform.expand(b.data(), dense(side, 1), expanded.data(), dense(kPointRows, 1), 1);
    double left = 0;
    double right = 0;
    for (std::size_t i = 0; i < b.size(); ++i) left += contracted[i] * b[i];
    for (std::size_t i = 0; i < a.size(); ++i) right += expanded[i] * a[i];
    EXPECT_NEAR(left, right, 1e-9 * std::abs(right) + 1e-9);
  };
  expect_transposed(tiles.inputs, kPointRows);
  expect_transposed(tiles.weights, window);
  expect_transposed(tiles.outputs, kPointRows + 1 - window);
}

template <class T>
void expect_scalar_bits(const TileTransform<T>& scalar, const TileTransform<T>& other,
                        std::size_t side, std::size_t count) {
  const std::size_t small = side * side * count;
  const std::size_t large = kPoints * count;
  const std::vector<T> from = any_values<T>(large, 1);
  std::vector<T> expected = any_values<T>(large + 1, 2);  // One more, which no kernel may touch.
  std::vector<T> result = expected;
  scalar.expand(from.data(), dense(side, count), expected.data(), dense(kPointRows, count), count);
  other.expand(from.data(), dense(side, count), result.data(), dense(kPointRows, count), count);
  for (std::size_t i = 0; i <= large; ++i) ASSERT_TRUE(same(result[i], expected[i])) << "at " << i;

  expected = any_values<T>(small + 1, 3);
  result = expected;
  scalar.contract_add(from.data(), dense(kPointRows, count), expected.data(), dense(side, count),
                      count);
  other.contract_add(from.data(), dense(kPointRows, count), result.data(), dense(side, count),
                     count);
  for (std::size_t i = 0; i <= small; ++i) ASSERT_TRUE(same(result[i], expected[i])) << "at " << i;
}

template <class T>
void expect_scalar_bits(const Tiles& tiles, std::size_t window, std::size_t count) {
  const TileTransforms<T>& scalar = reference<Tiles>().transforms<T>(window);
  const TileTransforms<T>& other = tiles.transforms<T>(window);
  expect_scalar_bits(scalar.inputs, other.inputs, kPointRows, count);
  expect_scalar_bits(scalar.weights, other.weights, window, count);
  expect_scalar_bits(scalar.outputs, other.outputs, kPointRows + 1 - window, count);
}

TEST_P(TilesTest, HaveTheBitsOfScalar) {
  std::vector<const Tiles*> rows = supported<Tiles>();
  rows.push_back(&testing::kToyTiles);
  for (const Tiles* tiles : rows) {
    for (const std::size_t count : {1, 7, 16, 33, 64}) {
      SCOPED_TRACE(std::string(tiles->variant->name) + ", count " + std::to_string(count));
      expect_scalar_bits<float>(*tiles, GetParam(), count);
      expect_scalar_bits<double>(*tiles, GetParam(), count);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, TilesTest, ::testing::Values(3, 5),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace rota::kernels

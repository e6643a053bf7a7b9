// The ONNX graph of a rota::Model: its metadata, its types, and wrong arguments. tests/judges/ has
// onnxruntime run such graphs.
#include <gtest/gtest.h>
#include <rota/onnx.h>

#include <algorithm>
#include <map>

#include "base/hex.h"
#include "testing/error_of.h"

namespace rota {
namespace {

using testing::error_of;

std::map<std::string, std::string> metadata_of(const OnnxGraph& graph) {
  return {graph.metadata().begin(), graph.metadata().end()};
}

Model<float> small_model() { return {{4, 4, 1}, {convolution(2, 3), relu(), dense(3)}}; }

TEST(ModelGraph, PutsFactsIntoTheMetadata) {
  Communicator alone{CommunicatorOptions{}};
  const Replica<float> replica(alone, small_model(), {.seed = 3});
  const auto facts =
      metadata_of(onnx_graph(replica, {.step = 12, .run = "cd", .data_digest = "ab"}));
  EXPECT_EQ(facts, (std::map<std::string, std::string>{
                       {"step", "12"},
                       {"run", "cd"},
                       {"data_digest", "ab"},
                       {"weights_hash", base::to_hex(replica.weights_hash())}}));
  const auto without = metadata_of(onnx_graph(replica));
  EXPECT_FALSE(without.contains("run"));
  EXPECT_FALSE(without.contains("data_digest"));
}

TEST(ModelGraph, RoundsDoublesToFloats) {
  Communicator alone{CommunicatorOptions{}};
  Model<double> model({1, 1, 2}, {dense(2)});
  const Replica<double> replica(alone, std::move(model), {.seed = 3});
  const OnnxGraph graph = onnx_graph(replica);
  ASSERT_EQ(graph.initializers().size(), 2U);
  EXPECT_EQ(graph.initializers()[0].name, "0.dense.weights");
  EXPECT_EQ(graph.initializers()[0].bytes.size(), 4 * sizeof(float));
}

// In the image, pixel p of channel c is value 2 p + c of rota, and value 4 c + p of ONNX.
TEST(ModelGraph, MovesTheWeightsOfValuesThatMove) {
  const Model<float> model({2, 2, 2}, {max_pool(1), dense(2)});
  std::vector<float> weights(16);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
  const std::vector<float> biases(2);
  const std::vector<std::span<const float>> values = {weights, biases};
  const OnnxGraph graph = onnx_graph<float>(model, values);
  const std::vector<float> moved = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
  const auto bytes = std::as_bytes(std::span(moved));
  ASSERT_EQ(graph.initializers()[0].name, "1.dense.weights");
  EXPECT_TRUE(std::ranges::equal(graph.initializers()[0].bytes, bytes));
}

TEST(ModelGraph, RefusesValuesThatDoNotFit) {
  const Model<float> model = small_model();
  std::vector<float> weights(18);
  std::vector<float> biases(2);
  const std::vector<std::span<const float>> too_few = {weights, biases};
  const auto missing = error_of([&] { onnx_graph<float>(model, too_few); });
  ASSERT_TRUE(missing);
  EXPECT_STREQ(missing->what(), "the model has 4 parameters, but got the values of 2");
  const std::vector<std::span<const float>> wrong = {weights, weights, weights, weights};
  const auto error = error_of([&] { onnx_graph<float>(model, wrong); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(), "parameter 0.convolution.biases has 2 values, but got 18");
}

}  // namespace
}  // namespace rota

// An ONNX graph refuses each mistake at the call that makes it.
#include <gtest/gtest.h>
#include <rota/error.h>
#include <rota/onnx.h>

#include <array>

#include "testing/error_of.h"

namespace rota {
namespace {

using testing::error_of;

constexpr std::array<float, 6> kWeights = {1, 2, 3, 4, 5, 6};

// input (batch × 2), weights (2 × 3), sum = input · weights.
OnnxGraph product() {
  OnnxGraph graph("product");
  graph.add_input("input", OnnxType::kFloat, {"batch", 2});
  graph.add_initializer("weights", {2, 3}, kWeights);
  graph.add_node({"MatMul", {"input", "weights"}, {"sum"}, {}});
  return graph;
}

void expect_refused(const std::function<void(OnnxGraph&)>& call, const std::string& why) {
  OnnxGraph graph = product();
  const auto error = error_of([&] { call(graph); });
  ASSERT_TRUE(error) << why;
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error->what(), "ONNX graph product: " + why);
  // The refused call has added nothing to the graph.
  graph.add_output("sum", OnnxType::kFloat, {"batch", 3});
  OnnxGraph same = product();
  same.add_output("sum", OnnxType::kFloat, {"batch", 3});
  EXPECT_EQ(to_bytes(graph), to_bytes(same));
}

TEST(OnnxGraph, RefusesNames) {
  expect_refused([](auto& graph) { graph.add_input("", OnnxType::kFloat, {}); },
                 "an input needs a name, and got an empty one");
  expect_refused([](auto& graph) { graph.add_input("sum", OnnxType::kFloat, {}); },
                 "an input cannot be named sum, because another value has this name: choose "
                 "another");
  expect_refused([](auto& graph) { graph.add_initializer("input", {6}, kWeights); },
                 "an initializer cannot be named input, because another value has this name: "
                 "choose another");
  expect_refused(
      [](auto& graph) {
        graph.add_node({"Relu", {"sum"}, {"input"}, {}});
      },
      "an output of a node Relu cannot be named input, because another value has this "
      "name: choose another");
  expect_refused(
      [](auto& graph) {
        graph.add_node({"Split", {"sum"}, {"a", "a"}, {}});
      },
      "a node Split has two outputs named a");
  expect_refused(
      [](auto& graph) {
        graph.add_node({"Relu", {"sun"}, {"a"}, {}});
      },
      "a node Relu reads sun, which no earlier call has added: add inputs, initializers "
      "and nodes before the nodes that read them");
  expect_refused([](auto& graph) { graph.add_output("input", OnnxType::kFloat, {}); },
                 "output 'input' is no output of a node: add the node before");
  EXPECT_TRUE(error_of([] { OnnxGraph(""); }));
}

TEST(OnnxGraph, RefusesIncompleteNodes) {
  expect_refused(
      [](auto& graph) {
        graph.add_node({"", {"sum"}, {"a"}, {}});
      },
      "a node needs an operator, such as Gemm");
  expect_refused(
      [](auto& graph) {
        graph.add_node({"Relu", {"sum"}, {}, {}});
      },
      "a node Relu needs an output");
  expect_refused(
      [](auto& graph) {
        graph.add_node({"Relu", {"sum"}, {"a"}, {{"", std::int64_t{1}}}});
      },
      "an attribute of a node Relu has no name");
}

TEST(OnnxGraph, RefusesValuesThatDoNotFitTheirShape) {
  expect_refused([](auto& graph) { graph.add_initializer("a", {7}, kWeights); },
                 "initializer a got 6 values, but its shape has 7");
  expect_refused(
      [](auto& graph) {
        graph.add_initializer("a", {-2, -3}, kWeights);
      },
      "initializer a has the extent -2; an extent is at least 0");
}

// Readers refuse a file of which one text is not UTF-8.
TEST(OnnxGraph, RefusesWhatIsNotUtf8) {
  const std::string shown = "b\xef\xbf\xbd is not UTF-8";
  expect_refused([](auto& graph) { graph.add_input("b\xff", OnnxType::kFloat, {}); },
                 "an input cannot be named so: the name " + shown);
  expect_refused([](auto& graph) { graph.add_input("c", OnnxType::kFloat, {"b\xff"}); },
                 "the extent " + shown);
  expect_refused(
      [](auto& graph) {
        graph.add_node({"b\xff", {"sum"}, {"a"}, {}});
      },
      "the operator " + shown);
  expect_refused([](auto& graph) { graph.add_metadata("data", "b\xff"); },
                 "the fact data " + shown);
  EXPECT_TRUE(error_of([] { OnnxGraph("b\xff"); }));
}

TEST(OnnxGraph, RefusesTheSameTwice) {
  OnnxGraph graph = product();
  graph.add_output("sum", OnnxType::kFloat, {"batch", 3});
  EXPECT_TRUE(error_of([&] { graph.add_output("sum", OnnxType::kFloat, {"batch", 3}); }));
  graph.add_metadata("step", "1");
  EXPECT_TRUE(error_of([&] { graph.add_metadata("step", "2"); }));
  EXPECT_TRUE(error_of([&] { graph.add_metadata("", "2"); }));
}

TEST(OnnxGraph, NeedsAnOutputToBeWritten) {
  const auto error = error_of([] { to_bytes(product()); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "ONNX graph product: it has no output: call add_output()");
}

}  // namespace
}  // namespace rota

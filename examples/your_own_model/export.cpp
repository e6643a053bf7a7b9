// Trains the network in one process, and publishes it in the format ONNX. The network computes with
// doubles. The graph has floats, because servers compute with floats.
#include <rota/publish.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "network.h"

namespace {

std::vector<float> to_floats(const std::vector<double>& values) {
  std::vector<float> floats(values.size());
  std::ranges::transform(values, floats.begin(),
                         [](double value) { return static_cast<float>(value); });
  return floats;
}

// Returns the operators of Network::probability_of_inside(), for any number of points.
rota::OnnxGraph graph_of(const Network& network) {
  constexpr auto kUnits = static_cast<std::int64_t>(Network::kUnits);
  const std::vector<float> hidden = to_floats(network.hidden);
  const std::vector<float> output = to_floats(network.output);
  rota::OnnxGraph graph("inside_of_a_circle");
  graph.add_input("points", rota::OnnxType::kFloat, {"batch", 2});
  graph.add_initializer("hidden_weights", {2, kUnits},
                        std::span(hidden).first(2 * Network::kUnits));
  graph.add_initializer("hidden_biases", {kUnits}, std::span(hidden).last(Network::kUnits));
  graph.add_initializer("output_weights", {kUnits, 1}, std::span(output).first(Network::kUnits));
  graph.add_initializer("output_bias", {1}, std::span(output).last(1));
  graph.add_node({"Gemm", {"points", "hidden_weights", "hidden_biases"}, {"sums"}, {}});
  graph.add_node({"Tanh", {"sums"}, {"units"}, {}});
  graph.add_node({"Gemm", {"units", "output_weights", "output_bias"}, {"logit"}, {}});
  graph.add_node({"Sigmoid", {"logit"}, {"inside"}, {}});
  graph.add_output("inside", rota::OnnxType::kFloat, {"batch", 1});
  graph.add_metadata("precision", "floats, rounded from doubles");
  return graph;
}

}  // namespace

int main() {
  const std::vector<Point> points = draw_points(1000);
  Network network;
  Network gradient;
  network.draw(2);
  for (int step = 0; step < 400; ++step) {
    gradient.clear();
    for (const Point& point : points) {
      network.backward(point, gradient);
    }
    network.descend(gradient, 2 / static_cast<double>(points.size()));
  }
  std::printf("%zu of %zu correct\n", network.count_correct(points), points.size());
  const std::array<rota::NamedTensor, 2> tensors = {
      {{"hidden", {3, Network::kUnits}, network.hidden},
       {"output", {Network::kUnits + 1}, network.output}}};
  const rota::Published published = rota::publish("models", graph_of(network), tensors);
  std::printf("published %s: floats, rounded from doubles\n", published.path.c_str());
}

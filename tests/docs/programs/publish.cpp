// Publishes a handwritten model: two curves y = tanh(slope · x + height).
#include <rota/publish.h>

#include <array>
#include <cstdio>

int main() {
  const std::array<float, 2> slopes = {3, -2};  // Training has found these values.
  const std::array<float, 2> heights = {-1, 0.5F};
  rota::OnnxGraph graph("two_curves");
  graph.add_input("x", rota::OnnxType::kFloat, {"batch", 1});
  graph.add_initializer("slopes", {1, 2}, slopes);
  graph.add_initializer("heights", {2}, heights);
  graph.add_node({"Gemm", {"x", "slopes", "heights"}, {"lines"}, {}});
  graph.add_node({"Tanh", {"lines"}, {"y"}, {}});
  graph.add_output("y", rota::OnnxType::kFloat, {"batch", 2});
  graph.add_metadata("step", "1000");
  const std::array<rota::NamedTensor, 2> tensors = {
      {{"slopes", {1, 2}, slopes}, {"heights", {2}, heights}}};
  const rota::Published published = rota::publish("models", graph, tensors);
  std::printf("published %s\n", published.path.c_str());
}

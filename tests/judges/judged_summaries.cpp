// Writes the summaries of a training run for judge_summaries.py. The run was interrupted twice,
// and continued from a step before its last one. Usage: judged_summaries FOLDER.
#include <rota/summaries.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace rota {
namespace {

// The first value says which part of the run wrote it.
void write_curves(SummaryWriter& writer, int part, std::int64_t step) {
  double value = part * 1000 + static_cast<double>(step);
  if (step == 30) value = std::numeric_limits<double>::quiet_NaN();
  if (step == 40) value = -std::numeric_limits<double>::infinity();
  writer.scalar("loss/train", value, step);
  if (step % 10 != 0) return;
  writer.scalar("accuracy/test", static_cast<double>(step) / 200, step);
  std::vector<float> weights(300);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i % 30) + static_cast<float>(step);
  }
  if (step == 30) weights[7] = std::numeric_limits<float>::infinity();
  writer.histogram("weights", weights, step);
}

// 3 × 2 pixels.
void write_images(SummaryWriter& writer, std::int64_t step) {
  const std::array<std::uint8_t, 6> grey = {0, 50, 100, 150, 200, 255};
  writer.image("grey", {3, 2, 1}, grey, step);
  const std::array<std::uint8_t, 18> colours = {255, 0,  0,  0,  255, 0,  0,  0,  255,
                                                10,  20, 30, 40, 50,  60, 70, 80, 90};
  writer.image("colours", {3, 2, 3}, colours, step);
}

OnnxGraph graph() {
  OnnxGraph graph("small");
  const std::array<float, 6> weights = {1, 2, 3, 4, 5, 6};
  graph.add_input("input", OnnxType::kFloat, {"batch", 2});
  graph.add_initializer("weights", {2, 3}, weights);
  graph.add_node({"Gemm", {"input", "weights"}, {"sum"}, {{"alpha", 0.5F}}});
  graph.add_node({"Relu", {"sum"}, {"output"}, {}});
  graph.add_output("output", OnnxType::kFloat, {"batch", 3});
  return graph;
}

void write_part(const std::string& folder, int part, std::int64_t first, std::int64_t last) {
  SummaryWriter writer(folder);
  writer.hyperparameters({{"learning rate", 0.5}, {"batch", 100}, {"model", "mlp"}, {"warm", true}},
                         {"accuracy/test"}, first);
  if (part == 1) {
    writer.graph(graph(), first);
    writer.text("notes", "**first** part", first);
    write_images(writer, first);
  }
  for (std::int64_t step = first; step <= last; ++step) write_curves(writer, part, step);
}

}  // namespace
}  // namespace rota

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  rota::write_part(folder + "/first", 1, 1, 100);
  rota::write_part(folder + "/first", 2, 61, 90);
  rota::write_part(folder + "/first", 3, 76, 120);
  rota::SummaryWriter other(folder + "/second");
  other.hyperparameters(
      {{"learning rate", 0.1}, {"batch", 200}, {"model", "lenet"}, {"warm", false}},
      {"accuracy/test"}, 1);
  other.scalar("accuracy/test", 0.75, 1);
  other.close(false);
}

// A table of the workloads. A test compares it with the models of the example.
#include "scale/workload.h"

#include <stdexcept>

namespace rota::bench {
namespace {

// A convolution of 5 x 5 multiplies each weight once for each pixel: 28 x 28, then 14 x 14.
constexpr LayerWork kLenet[] = {
    {800, 32, 28.0 * 28 * 800},
    {51'200, 64, 14.0 * 14 * 51'200},
    {1'605'632, 512, 1'605'632},
    {5'120, 10, 5'120},
};

constexpr LayerWork kMlp[] = {
    {401'408, 512, 401'408},
    {262'144, 512, 262'144},
    {5'120, 10, 5'120},
};

// The rates of one worker on the page docs/benchmarks/training.md of November 2026, rounded.
constexpr ModelWork kWorkloads[] = {
    {"lenet", kLenet, 2'650},
    {"mlp", kMlp, 37'000},
};

}  // namespace

const ModelWork& model_work_named(const std::string& name) {
  std::string names;
  for (const ModelWork& workload : kWorkloads) {
    if (workload.name == name) return workload;
    names += (names.empty() ? "" : " and ") + std::string(workload.name);
  }
  throw std::invalid_argument("--model: there is no workload '" + name + "'; the workloads are " +
                              names);
}

std::vector<std::size_t> gradient_counts(const ModelWork& workload) {
  std::vector<std::size_t> counts;
  for (const LayerWork& layer : workload.layers) {
    counts.push_back(layer.weights);
    counts.push_back(layer.biases);
  }
  return counts;
}

}  // namespace rota::bench

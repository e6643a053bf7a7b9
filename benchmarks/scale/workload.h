// What `rota-bench scale` trains: the gradients of a model, and how its computing is shared among
// the layers.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rota::bench {

// A layer with parameters. Layers without parameters take next to no time.
struct LayerWork {
  std::size_t weights = 0;
  std::size_t biases = 0;
  double multiplications = 0;  // In the forward pass of one image.
};

struct ModelWork {
  std::string_view name;
  std::span<const LayerWork> layers;  // In forward order.
  // Of one rank alone, on one core. benchmarks/training has measured it.
  double images_per_second = 0;
};

// Returns the workload with this name. Throws std::invalid_argument, which lists the names.
const ModelWork& model_work_named(const std::string& name);

// Returns the counts of the gradients in forward order: the weights and the biases of each layer.
std::vector<std::size_t> gradient_counts(const ModelWork& workload);

}  // namespace rota::bench

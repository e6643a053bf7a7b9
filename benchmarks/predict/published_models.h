// The workloads of published networks on a published GPU: one Pascal GPU of Horovod's benchmark,
// with a batch of 64 images. The README of Horovod of September 2017 has the images a second of one
// GPU. So the workloads have the bytes and, in sum, the time of that benchmark.
//
// How the time of a step is shared is an assumption: the backward pass takes two thirds, since it
// multiplies twice where the forward pass multiplies once. Layers share both passes by their
// multiplications. The optimizer's time is part of that time.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/model_layers.h"
#include "predict/workload.h"

namespace rota::bench {

struct PublishedModel {
  std::string_view name;  // "vgg-16"
  std::vector<ModelLayer> (*layers)();
  double images_per_second;  // Of one GPU alone.
};

std::span<const PublishedModel> published_models();

// Returns whether there is a published model of this name.
bool is_published(const std::string& name);

// Returns the workload of a step. Requires is_published(name).
Workload published_workload(const std::string& name);

}  // namespace rota::bench

// A table of the models, and the time that each layer's gradient takes.
#include "predict/published_models.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace rota::bench {
namespace {

constexpr double kImages = 64;
constexpr double kForwardShare = 1.0 / 3;

constexpr PublishedModel kPublishedModels[] = {
    {"inception-v3", inception_v3_layers, 134.4},
    {"resnet-101", resnet_101_layers, 119.4},
    {"vgg-16", vgg_16_layers, 130.9},
};

}  // namespace

std::span<const PublishedModel> published_models() { return kPublishedModels; }

bool is_published(const std::string& name) {
  return std::ranges::find(kPublishedModels, name, &PublishedModel::name) !=
         std::end(kPublishedModels);
}

Workload published_workload(const std::string& name) {
  const auto* const model = std::ranges::find(kPublishedModels, name, &PublishedModel::name);
  ROTA_ASSERT(model != std::end(kPublishedModels));
  const std::vector<ModelLayer> layers = model->layers();
  double multiplications = 0;
  for (const ModelLayer& layer : layers) multiplications += layer.multiplications;
  const double seconds = kImages / model->images_per_second;
  const double backward = seconds * (1 - kForwardShare);
  Workload workload{.name = name, .forward_seconds = seconds * kForwardShare};
  for (const ModelLayer& layer : layers) {
    workload.gradients.push_back({.name = layer.name,
                                  .count = layer.parameters,
                                  .seconds = backward * layer.multiplications / multiplications});
  }
  return workload;
}

}  // namespace rota::bench

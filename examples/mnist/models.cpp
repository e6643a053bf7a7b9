// Lists the layers of each model.
#include "models.h"

std::vector<rota::Layer> layers_of(const std::string& model, std::size_t classes) {
  using namespace rota;
  if (model == "seed") {
    return {dense(100, Initializer::kStandardNormal), sigmoid(),
            dense(classes, Initializer::kStandardNormal)};
  }
  const Layer last = dense(classes, Initializer::kGlorot);
  if (model == "mlp") return {dense(512), relu(), dense(512), relu(), last};
  return {convolution(32, 5), relu(), max_pool(2), convolution(64, 5), relu(), max_pool(2),
          dense(512),         relu(), last};
}

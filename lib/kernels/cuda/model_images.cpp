// Has the kernels of layers that know the shape of images.
#include "kernels/cuda/images.h"
#include "kernels/cuda/tables.h"

namespace rota::kernels::cuda {

void add_images(Launches& launches) noexcept {
  ModelLaunches& models = launches.models;
  models.max_pool = [](const Queue& queue, float* output, const float* input,
                       const Images& images) noexcept {
    return each(queue, PoolBody{output, input, images}, pooled_count(images));
  };
  models.max_pool_gradient = [](const Queue& queue, float* input_gradient, const float* input,
                                const float* output_gradient, const Images& images) noexcept {
    return each(queue, PoolGradientBody{input_gradient, input, output_gradient, images},
                pooled_count(images));
  };
  models.unfold = unfold;
  models.turn_filters = [](const Queue& queue, float* turned, const float* weights,
                           std::size_t pixels, std::size_t channels, std::size_t filters) noexcept {
    return each(queue, TurnBody{turned, weights, pixels, channels, filters},
                pixels * channels * filters);
  };
}

}  // namespace rota::kernels::cuda

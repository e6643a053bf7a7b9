// Lists the kernels by which models are trained on a GPU. Each does what the function of its name
// in rota::cuda::ModelCalls does, on a queue.
#pragma once
#include <rota/cuda_model_calls.h>

#include "kernels/cuda/queue.h"

namespace rota::kernels::cuda {

struct ModelLaunches {
  using Activation = rota::cuda::Activation;
  using Images = rota::cuda::Images;

  Status (*fill_rows)(const Queue& queue, float* matrix, const float* row, std::size_t rows,
                      std::size_t columns) noexcept = nullptr;
  Status (*add_rows)(const Queue& queue, float* sums, float* work, const float* matrix,
                     std::size_t rows, std::size_t columns, bool adds) noexcept = nullptr;
  Status (*activate)(const Queue& queue, Activation activation, float* values,
                     std::size_t count) noexcept = nullptr;
  Status (*differentiate)(const Queue& queue, Activation activation, float* gradient,
                          const float* output, std::size_t count) noexcept = nullptr;
  Status (*multiply_each)(const Queue& queue, float* values, const float* factors,
                          std::size_t count) noexcept = nullptr;
  Status (*widen_pixels)(const Queue& queue, float* values, const std::uint8_t* pixels,
                         std::size_t count) noexcept = nullptr;
  Status (*max_pool)(const Queue& queue, float* output, const float* input,
                     const Images& images) noexcept = nullptr;
  Status (*max_pool_gradient)(const Queue& queue, float* input_gradient, const float* input,
                              const float* output_gradient,
                              const Images& images) noexcept = nullptr;
  Status (*unfold)(const Queue& queue, float* windows, const float* images,
                   const Images& shape) noexcept = nullptr;
  Status (*turn_filters)(const Queue& queue, float* turned, const float* weights,
                         std::size_t pixels, std::size_t channels,
                         std::size_t filters) noexcept = nullptr;
  Status (*draw_factors)(const Queue& queue, float* factors, const std::uint64_t* identities,
                         std::size_t samples, std::size_t units,
                         const rota::cuda::Dropout& dropout) noexcept = nullptr;
  Status (*softmax_cross_entropy)(const Queue& queue, double* totals, float* gradient,
                                  const float* logits, const std::uint8_t* labels,
                                  std::size_t samples, std::size_t classes,
                                  bool adds) noexcept = nullptr;
};

}  // namespace rota::kernels::cuda

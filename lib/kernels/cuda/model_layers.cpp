// Has the kernels of layers that change each value on its own, of biases and of the loss.
#include "kernels/cuda/layers.h"
#include "kernels/cuda/losses.h"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/tables.h"
#include "kernels/cuda/updates.h"

namespace rota::kernels::cuda {
namespace {

template <class Step>
Status map_values(const Queue& queue, float* values, std::size_t count) noexcept {
  return map(queue, ValueBody<Step>{bytes_of(values)}, bytes_of(values), sizeof(float), count);
}

template <class Step>
Status map_pairs(const Queue& queue, float* values, const float* other,
                 std::size_t count) noexcept {
  const PairBody<Step> body = {bytes_of(values), bytes_of(other)};
  return map(queue, body, bytes_of(values), sizeof(float), count);
}

}  // namespace

void add_layers(Launches& launches) noexcept {
  using rota::cuda::Activation;
  ModelLaunches& models = launches.models;
  models.fill_rows = [](const Queue& queue, float* matrix, const float* row, std::size_t rows,
                        std::size_t columns) noexcept {
    return each(queue, FillBody{matrix, row, columns}, rows * columns);
  };
  models.add_rows = add_rows;
  models.activate = [](const Queue& queue, Activation activation, float* values,
                       std::size_t count) noexcept {
    return activation == Activation::kRelu ? map_values<ReluStep>(queue, values, count)
                                           : map_values<SigmoidStep>(queue, values, count);
  };
  models.differentiate = [](const Queue& queue, Activation activation, float* gradient,
                            const float* output, std::size_t count) noexcept {
    return activation == Activation::kRelu
               ? map_pairs<ReluGradientStep>(queue, gradient, output, count)
               : map_pairs<SigmoidGradientStep>(queue, gradient, output, count);
  };
  models.multiply_each = map_pairs<ProductStep>;
  models.widen_pixels = [](const Queue& queue, float* values, const std::uint8_t* pixels,
                           std::size_t count) noexcept {
    const PixelBody body = {bytes_of(values), bytes_of(pixels)};
    return map(queue, body, bytes_of(pixels), sizeof(std::uint8_t), count);
  };
  models.draw_factors = [](const Queue& queue, float* factors, const std::uint64_t* identities,
                           std::size_t samples, std::size_t units,
                           const rota::cuda::Dropout& dropout) noexcept {
    return each(
        queue,
        DropoutBody{factors, identities, units, {dropout.key, dropout.threshold, dropout.kept}},
        samples * DropoutBody::blocks(units));
  };
  models.softmax_cross_entropy = [](const Queue& queue, double* totals, float* gradient,
                                    const float* logits, const std::uint8_t* labels,
                                    std::size_t samples, std::size_t classes, bool adds) noexcept {
    return launch(queue, 1, CrossEntropy{totals, gradient, logits, labels, samples, classes, adds});
  };
}

}  // namespace rota::kernels::cuda

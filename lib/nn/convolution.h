// Filters that slide over an image padded with zeros: each output pixel is the product of the
// window around it and the weights. This way has a product for all windows of some images.
#pragma once
#include "nn/buffer.h"
#include "nn/filters.h"
#include "nn/padded_images.h"

namespace rota::nn {

template <class T>
class Convolution final : public Filters<T> {
 public:
  Convolution(ImageShape input, const Layer& layer);

  void forward(const Pass& pass, const T* input, T* output) override;
  void parameter_gradients(const Pass& pass, const Backward<T>& backward) override;
  void input_gradient(const Pass& pass, const Backward<T>& backward) override;

 private:
  void turn_weights() noexcept;

  using Filters<T>::input_;
  using Filters<T>::output_;
  using Filters<T>::window_;
  using Filters<T>::weights_;
  using Filters<T>::weights_gradient_;
  using Filters<T>::biases_;
  using Filters<T>::biases_gradient_;

  PaddedImages<T> inputs_;
  PaddedImages<T> output_gradients_;
  Buffer<T> turned_weights_;  // window × window × filters × channels.
};

}  // namespace rota::nn

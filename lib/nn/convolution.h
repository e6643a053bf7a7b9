// A convolution: filters slide over an image padded with zeros. Each output pixel is the product of
// the window around it and the weights. This implementation multiplies all windows of a few images
// in one matrix product.
#pragma once
#include "nn/filters.h"

namespace rota::nn {

template <class Math>
class Convolution final : public Filters<typename Math::Element> {
 public:
  using T = typename Math::Element;

  Convolution(const Math& math, ImageShape input, const Layer& layer);

  void reserve(std::size_t samples) override;
  void forward(const Pass& pass, const T* input, T* output) override;
  void parameter_gradients(const Pass& pass, const Backward<T>& backward) override;
  void input_gradient(const Pass& pass, const Backward<T>& backward) override;

 private:
  using Filters<T>::input_;
  using Filters<T>::output_;
  using Filters<T>::window_;
  using Filters<T>::weights_;
  using Filters<T>::weights_gradient_;
  using Filters<T>::biases_;
  using Filters<T>::biases_gradient_;

  [[no_unique_address]] Math math_;
  typename Math::Windows inputs_;
  typename Math::Windows output_gradients_;
  typename Math::Memory turned_weights_;  // window × window × filters × channels.
};

}  // namespace rota::nn

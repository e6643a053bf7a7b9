// Filters that slide over an image padded with zeros: each output pixel is the product of the
// window around it and the weights.
#pragma once
#include "nn/buffer.h"
#include "nn/module.h"
#include "nn/padded_images.h"

namespace rota::nn {

template <class T>
class Convolution final : public Module<T> {
 public:
  Convolution(ImageShape input, const Layer& layer);

  ImageShape output_shape() const noexcept override { return output_; }
  std::vector<Parameter> parameters() const override;
  void bind(std::size_t index, T* values, T* gradient) noexcept override;
  void forward(const Pass& pass, const T* input, T* output) override;
  void parameter_gradients(const Pass& pass, const Backward<T>& backward) override;
  void input_gradient(const Pass& pass, const Backward<T>& backward) override;

 private:
  void turn_weights() noexcept;

  ImageShape input_;
  ImageShape output_;
  std::size_t window_;
  Initializer initializer_;
  T* weights_ = nullptr;  // window × window × channels × filters.
  T* weights_gradient_ = nullptr;
  T* biases_ = nullptr;
  T* biases_gradient_ = nullptr;
  PaddedImages<T> inputs_;
  PaddedImages<T> output_gradients_;
  Buffer<T> turned_weights_;  // window × window × filters × channels.
};

}  // namespace rota::nn

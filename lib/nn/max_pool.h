// Max pooling keeps the greatest value of each window × window square, for each channel.
#pragma once
#include "nn/module.h"

namespace rota::nn {

template <class Math>
class MaxPool final : public Module<typename Math::Element> {
 public:
  using T = typename Math::Element;

  MaxPool(const Math& math, ImageShape input, const Layer& layer)
      : output_{input.rows / layer.window, input.columns / layer.window, input.channels},
        pooling_(math.pooling(input, output_, layer.window)) {}

  ImageShape output_shape() const noexcept override { return output_; }
  void forward(const Pass& pass, const T* input, T* output) override {
    pooling_.forward(pass.samples, input, output);
  }
  void input_gradient(const Pass& pass, const Backward<T>& backward) override {
    pooling_.backward(pass.samples, backward.input, backward.output_gradient,
                      backward.input_gradient);
  }

 private:
  ImageShape output_;
  typename Math::Pooling pooling_;
};

}  // namespace rota::nn

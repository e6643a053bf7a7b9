// The common part of all convolutions: the shapes and the parameters.
#pragma once
#include "nn/initializer.h"
#include "nn/module.h"

namespace rota::nn {

template <class T>
class Filters : public Module<T> {
 public:
  Filters(ImageShape input, const Layer& layer)
      : input_(input),
        output_{input.rows, input.columns, layer.outputs},
        window_(layer.window),
        initializer_(layer.initializer) {}

  ImageShape output_shape() const noexcept final { return output_; }

  std::vector<Parameter> parameters() const final {
    const std::size_t pixels = window_ * window_;
    return {{"weights",
             {window_, window_, input_.channels, output_.channels},
             weight_deviation(initializer_, pixels * input_.channels, pixels * output_.channels)},
            {"biases", {output_.channels}, bias_deviation(initializer_)}};
  }

  void bind(std::size_t index, T* values, T* gradient) noexcept final {
    (index == 0 ? weights_ : biases_) = values;
    (index == 0 ? weights_gradient_ : biases_gradient_) = gradient;
  }

 protected:
  const ImageShape input_;
  const ImageShape output_;
  const std::size_t window_;
  const Initializer initializer_;
  T* weights_ = nullptr;  // window × window × channels × filters.
  T* weights_gradient_ = nullptr;
  T* biases_ = nullptr;
  T* biases_gradient_ = nullptr;
};

}  // namespace rota::nn

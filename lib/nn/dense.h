// A layer in which every output depends on every input: output = input · weights + biases.
#pragma once
#include "nn/module.h"

namespace rota::nn {

template <class Math>
class Dense final : public Module<typename Math::Element> {
 public:
  using T = typename Math::Element;

  Dense(const Math& math, std::size_t inputs, const Layer& layer);

  ImageShape output_shape() const noexcept override { return {1, 1, outputs_}; }
  std::vector<Parameter> parameters() const override;
  void bind(std::size_t index, T* values, T* gradient) noexcept override;
  void forward(const Pass& pass, const T* input, T* output) override;
  void parameter_gradients(const Pass& pass, const Backward<T>& backward) override;
  void input_gradient(const Pass& pass, const Backward<T>& backward) override;

 private:
  [[no_unique_address]] Math math_;
  std::size_t inputs_;
  std::size_t outputs_;
  Initializer initializer_;
  T* weights_ = nullptr;  // inputs × outputs.
  T* weights_gradient_ = nullptr;
  T* biases_ = nullptr;
  T* biases_gradient_ = nullptr;
};

}  // namespace rota::nn

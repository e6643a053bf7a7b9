// Layers that change each value on its own.
#pragma once
#include "nn/module.h"

namespace rota::nn {

// Works in place: always in the backward pass, and in the forward pass if the Model allows it.
template <class Math>
class Activation : public Module<typename Math::Element> {
 public:
  using T = typename Math::Element;

  Activation(const Math& math, ImageShape shape) : math_(math), shape_(shape) {}

  ImageShape output_shape() const noexcept final { return shape_; }
  bool works_in_place() const noexcept final { return true; }
  void forward(const Pass& pass, const T* input, T* output) final;
  void input_gradient(const Pass& pass, const Backward<T>& backward) final;

 protected:
  ImageShape shape() const noexcept { return shape_; }

  [[no_unique_address]] Math math_;

 private:
  virtual void apply(const Pass& pass, std::span<T> values) = 0;
  // Multiplies the gradient by the derivative at the point where the output was `output`.
  virtual void differentiate(std::span<T> gradient, const T* output) = 0;

  ImageShape shape_;
};

// max(0, x)
template <class Math>
class Relu final : public Activation<Math> {
 public:
  using T = typename Math::Element;
  using Activation<Math>::Activation;
  bool rereads_output() const noexcept override { return true; }

 private:
  void apply(const Pass&, std::span<T> values) override { this->math_.relu(values); }
  void differentiate(std::span<T> gradient, const T* output) override {
    this->math_.relu_gradient(gradient, output);
  }
};

// 1 / (1 + exp(-x))
template <class Math>
class Sigmoid final : public Activation<Math> {
 public:
  using T = typename Math::Element;
  using Activation<Math>::Activation;
  bool rereads_output() const noexcept override { return true; }

 private:
  void apply(const Pass&, std::span<T> values) override { this->math_.sigmoid(values); }
  void differentiate(std::span<T> gradient, const T* output) override {
    this->math_.sigmoid_gradient(gradient, output);
  }
};

}  // namespace rota::nn

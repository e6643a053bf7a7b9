// Layers that change each value by itself.
#pragma once
#include "nn/module.h"

namespace rota::nn {

// Works in place, always backward and wherever the Model allows it forward.
template <class T>
class Activation : public Module<T> {
 public:
  explicit Activation(ImageShape shape) : shape_(shape) {}

  ImageShape output_shape() const noexcept final { return shape_; }
  bool works_in_place() const noexcept final { return true; }
  void forward(const Pass& pass, const T* input, T* output) final;
  void input_gradient(const Pass& pass, const Backward<T>& backward) final;

 protected:
  ImageShape shape() const noexcept { return shape_; }

 private:
  virtual void apply(const Pass& pass, std::span<T> values) noexcept = 0;
  // Multiplies the gradient by the derivative where the output was `output`.
  virtual void differentiate(std::span<T> gradient, const T* output) noexcept = 0;

  ImageShape shape_;
};

// max(0, x)
template <class T>
class Relu final : public Activation<T> {
 public:
  using Activation<T>::Activation;
  bool rereads_output() const noexcept override { return true; }

 private:
  void apply(const Pass& pass, std::span<T> values) noexcept override;
  void differentiate(std::span<T> gradient, const T* output) noexcept override;
};

// 1 / (1 + exp(-x))
template <class T>
class Sigmoid final : public Activation<T> {
 public:
  using Activation<T>::Activation;
  bool rereads_output() const noexcept override { return true; }

 private:
  void apply(const Pass& pass, std::span<T> values) noexcept override;
  void differentiate(std::span<T> gradient, const T* output) noexcept override;
};

}  // namespace rota::nn

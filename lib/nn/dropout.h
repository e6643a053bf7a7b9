// While training, drops units at random and scales up the rest, so that their expectation stays.
#pragma once
#include "nn/activations.h"
#include "nn/buffer.h"

namespace rota::nn {

template <class T>
class Dropout final : public Activation<T> {
 public:
  // `position` is the layer's among all layers: two dropout layers drop different units.
  Dropout(ImageShape shape, const Layer& layer, std::size_t position);

  void reserve(std::size_t samples) override { factors_.reserve(samples * this->shape().count()); }

 private:
  void apply(const Pass& pass, std::span<T> values) noexcept override;
  void differentiate(std::span<T> gradient, const T* output) noexcept override;
  void draw_factors(const Pass& pass) noexcept;

  double rate_;
  std::size_t position_;
  Buffer<T> factors_;  // Of the last pass: 0 for a dropped unit, else 1 / (1 - rate).
};

}  // namespace rota::nn

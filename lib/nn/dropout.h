// In training, drops units at random and scales up the other units, so that the expected value of
// each unit stays the same.
#pragma once
#include "nn/activations.h"

namespace rota::nn {

template <class Math>
class Dropout final : public Activation<Math> {
 public:
  using T = typename Math::Element;

  // `position` is the index of the layer among all layers: two dropout layers drop different units.
  Dropout(const Math& math, ImageShape shape, const Layer& layer, std::size_t position);

  void reserve(std::size_t samples) override {
    this->math_.reserve(factors_, samples * this->shape().count());
  }
  void prepare(const Pass& pass) override;

 private:
  void apply(const Pass& pass, std::span<T> values) override;
  void differentiate(std::span<T> gradient, const T* output) override;

  double rate_;
  std::size_t position_;
  typename Math::Memory factors_;  // Last pass: 0 for a dropped unit, otherwise 1 / (1 - rate).
};

}  // namespace rota::nn

// Keeps the greatest value of each window × window square, channel by channel.
#pragma once
#include "nn/module.h"

namespace rota::nn {

template <class T>
class MaxPool final : public Module<T> {
 public:
  MaxPool(ImageShape input, const Layer& layer);

  ImageShape output_shape() const noexcept override { return output_; }
  void forward(const Pass& pass, const T* input, T* output) override;
  void input_gradient(const Pass& pass, const Backward<T>& backward) override;

 private:
  ImageShape input_;
  ImageShape output_;
  std::size_t window_;
  std::vector<std::size_t> offsets_;  // Of a square's values from its first, row by row.
  std::vector<T> greatest_;           // One a channel, as is the next.
  std::vector<T> left_;               // Of the gradient, not yet passed on.
};

}  // namespace rota::nn

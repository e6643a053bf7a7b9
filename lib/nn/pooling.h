// Max pooling on the host. It keeps the greatest value of each window × window square, for each
// channel.
#pragma once
#include <rota/model.h>

#include <cstddef>
#include <vector>

namespace rota::nn {

template <class T>
class HostPooling {
 public:
  HostPooling(ImageShape input, ImageShape output, std::size_t window);

  void forward(std::size_t samples, const T* input, T* output) noexcept;
  void backward(std::size_t samples, const T* input, const T* output_gradient,
                T* input_gradient) noexcept;

 private:
  ImageShape input_;
  ImageShape output_;
  std::size_t window_;
  std::vector<std::size_t> offsets_;  // From a square's first value to each value, by rows.
  std::vector<T> greatest_;           // By channel.
  std::vector<T> left_;               // By channel: gradient not yet passed on.
};

}  // namespace rota::nn

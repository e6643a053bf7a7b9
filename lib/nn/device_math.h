// What layers compute with on a device. host_math.h has the same for the host. Each call puts work
// on the model's stream and returns: pointers are addresses of the device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/layer_steps.h"
#include "nn/device_work.h"
#include "nn/module.h"
#include "nn/product.h"

namespace rota::nn {

// Working memory of a module.
class DeviceBuffer {
 public:
  float* data() const noexcept { return block_.as<float>().address(); }
  // No work may be under way there.
  void reserve(DeviceWork& work, std::size_t count);

 private:
  DeviceBlock block_;
};

// The matrix of the windows of images. See PaddedImages.
class DeviceWindows {
 public:
  DeviceWindows(DeviceWork& work, ImageShape shape, std::size_t window);

  void reserve(std::size_t images);
  std::size_t capacity() const noexcept { return capacity_; }
  Matrix<float> windows(const float* images, std::size_t count);

 private:
  DeviceWork* work_;
  ImageShape shape_;
  std::size_t window_;
  std::size_t image_count_;  // Elements of the windows of one image.
  std::size_t capacity_;
};

class DevicePooling {
 public:
  DevicePooling(DeviceWork& work, ImageShape input, ImageShape output, std::size_t window);

  void forward(std::size_t samples, const float* input, float* output);
  void backward(std::size_t samples, const float* input, const float* output_gradient,
                float* input_gradient);

 private:
  cuda::Images images(std::size_t samples) const noexcept;

  DeviceWork* work_;
  ImageShape input_;
  std::size_t window_;
  bool cuts_off_;  // Some pixels of the input belong to no square.
};

class DeviceMath {
 public:
  using Element = float;
  using Memory = DeviceBuffer;
  using Windows = DeviceWindows;
  using Pooling = DevicePooling;
  static constexpr bool kIsHost = false;

  // `work` is borrowed.
  explicit DeviceMath(DeviceWork& work) noexcept : work_(&work) {}

  void reserve(Memory& memory, std::size_t count) const { memory.reserve(*work_, count); }
  Windows windows(ImageShape shape, std::size_t window) const { return {*work_, shape, window}; }
  Pooling pooling(ImageShape input, ImageShape output, std::size_t window) const {
    return {*work_, input, output, window};
  }
  void reserve_columns(std::size_t columns) const { work_->reserve_sums(cuda::row_sums(columns)); }

  void multiply(const Matrix<float>& a, const Matrix<float>& b, float* result, Result mode) const;
  void fill_rows(const float* row, std::size_t columns, float* matrix, std::size_t rows) const;
  void add_rows(const float* matrix, std::size_t rows, float* sums, std::size_t columns,
                Result mode) const;
  void copy(const float* from, std::size_t count, float* to) const;

  void relu(std::span<float> values) const { activate(cuda::Activation::kRelu, values); }
  void relu_gradient(std::span<float> gradient, const float* output) const {
    differentiate(cuda::Activation::kRelu, gradient, output);
  }
  void sigmoid(std::span<float> values) const { activate(cuda::Activation::kSigmoid, values); }
  void sigmoid_gradient(std::span<float> gradient, const float* output) const {
    differentiate(cuda::Activation::kSigmoid, gradient, output);
  }
  void multiply_each(std::span<float> values, const float* factors) const;
  void draw_factors(const kernels::DropoutDraw<float>& draw,
                    std::span<const std::uint64_t> identities, std::size_t units,
                    float* factors) const;
  void turn_filters(const float* weights, std::size_t pixels, std::size_t channels,
                    std::size_t filters, float* turned) const;

 private:
  void activate(cuda::Activation activation, std::span<float> values) const;
  void differentiate(cuda::Activation activation, std::span<float> gradient,
                     const float* output) const;

  DeviceWork* work_;
};

}  // namespace rota::nn

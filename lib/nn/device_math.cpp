// Each function is one call of the table of CUDA's functions.
#include "nn/device_math.h"

#include <algorithm>

#include "base/assert.h"

namespace rota::nn {
namespace {

// Windows of a batch that would take more than this are made for a part of the batch at a time.
constexpr std::size_t kMostWindowBytes = std::size_t{128} << 20;

}  // namespace

void DeviceBuffer::reserve(DeviceWork& work, std::size_t count) {
  if (count * sizeof(float) <= block_.bytes().size()) return;
  block_ = {};  // Frees the old memory first: there may be no room for both.
  block_ = allocate_device(count * sizeof(float), work.on().device);
}

DeviceWindows::DeviceWindows(DeviceWork& work, ImageShape shape, std::size_t window)
    : work_(&work),
      shape_(shape),
      window_(window),
      image_count_(shape.count() * window * window),
      capacity_(std::max<std::size_t>(1, kMostWindowBytes / (image_count_ * sizeof(float)))) {}

void DeviceWindows::reserve(std::size_t images) {
  work_->reserve_scratch(std::min(images, capacity_) * image_count_);
}

Matrix<float> DeviceWindows::windows(const float* images, std::size_t count) {
  work_->check(
      work_->models().unfold(work_->on(), work_->scratch(), images,
                             {count, shape_.rows, shape_.columns, shape_.channels, window_}),
      "the windows of a convolution");
  return row_major<float>(work_->scratch(), count * shape_.rows * shape_.columns,
                          window_ * window_ * shape_.channels);
}

DevicePooling::DevicePooling(DeviceWork& work, ImageShape input, ImageShape output,
                             std::size_t window)
    : work_(&work),
      input_(input),
      window_(window),
      cuts_off_(output.rows * window != input.rows || output.columns * window != input.columns) {}

cuda::Images DevicePooling::images(std::size_t samples) const noexcept {
  return {samples, input_.rows, input_.columns, input_.channels, window_};
}

void DevicePooling::forward(std::size_t samples, const float* input, float* output) {
  work_->check(work_->models().max_pool(work_->on(), output, input, images(samples)),
               "max pooling");
}

void DevicePooling::backward(std::size_t samples, const float* input, const float* output_gradient,
                             float* input_gradient) {
  if (cuts_off_) {
    work_->check(
        work_->calls().clear(work_->on(), input_gradient, samples * input_.count() * sizeof(float)),
        "the clearing of a gradient");
  }
  work_->check(work_->models().max_pool_gradient(work_->on(), input_gradient, input,
                                                 output_gradient, images(samples)),
               "the gradient of max pooling");
}

void DeviceMath::multiply(const Matrix<float>& a, const Matrix<float>& b, float* result,
                          Result mode) const {
  ROTA_ASSERT(a.columns == b.rows);
  work_->multiply({.a = a.data,
                   .b = b.data,
                   .result = result,
                   .rows = a.rows,
                   .columns = b.columns,
                   .inner = a.columns,
                   .a_is_transposed = a.column_major,
                   .b_is_transposed = b.column_major,
                   .adds = mode == Result::kAdd});
}

void DeviceMath::fill_rows(const float* row, std::size_t columns, float* matrix,
                           std::size_t rows) const {
  work_->check(work_->models().fill_rows(work_->on(), matrix, row, rows, columns),
               "the copying of biases");
}

void DeviceMath::add_rows(const float* matrix, std::size_t rows, float* sums, std::size_t columns,
                          Result mode) const {
  work_->check(work_->models().add_rows(work_->on(), sums, work_->sums(), matrix, rows, columns,
                                        mode == Result::kAdd),
               "the sum of rows");
}

void DeviceMath::copy(const float* from, std::size_t count, float* to) const {
  work_->check(work_->calls().copy(work_->on(), to, from, count * sizeof(float)), "a copy");
}

void DeviceMath::activate(cuda::Activation activation, std::span<float> values) const {
  work_->check(work_->models().activate(work_->on(), activation, values.data(), values.size()),
               "an activation");
}

void DeviceMath::differentiate(cuda::Activation activation, std::span<float> gradient,
                               const float* output) const {
  work_->check(work_->models().differentiate(work_->on(), activation, gradient.data(), output,
                                             gradient.size()),
               "the gradient of an activation");
}

void DeviceMath::multiply_each(std::span<float> values, const float* factors) const {
  work_->check(work_->models().multiply_each(work_->on(), values.data(), factors, values.size()),
               "dropout");
}

void DeviceMath::draw_factors(const kernels::DropoutDraw<float>& draw,
                              std::span<const std::uint64_t> identities, std::size_t units,
                              float* factors) const {
  work_->check(
      work_->models().draw_factors(work_->on(), factors, identities.data(), identities.size(),
                                   units, {draw.key, draw.threshold, draw.kept}),
      "the draws of dropout");
}

void DeviceMath::turn_filters(const float* weights, std::size_t pixels, std::size_t channels,
                              std::size_t filters, float* turned) const {
  work_->check(
      work_->models().turn_filters(work_->on(), turned, weights, pixels, channels, filters),
      "the turning of filters");
}

}  // namespace rota::nn

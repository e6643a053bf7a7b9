// Gathering of samples into batches.
#include <rota/dataset.h>

#include <algorithm>

#include "base/assert.h"

namespace rota {

template <class T>
BatchBuffer<T>::BatchBuffer(const Dataset& dataset, std::size_t capacity)
    : dataset_(&dataset), inputs_(capacity * dataset.shape.count()), labels_(capacity) {}

template <class T>
Batch<T> BatchBuffer<T>::gather(std::span<const std::uint64_t> samples) noexcept {
  ROTA_ASSERT(samples.size() <= labels_.size());
  const std::size_t pixel_count = dataset_->shape.count();
  T* input = inputs_.data();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto sample = static_cast<std::size_t>(samples[i]);
    labels_[i] = dataset_->labels[sample];
    const std::uint8_t* pixels = dataset_->pixels.data() + sample * pixel_count;
    input = std::transform(pixels, pixels + pixel_count, input,
                           [](std::uint8_t pixel) { return static_cast<T>(pixel) / T{255}; });
  }
  Batch<T> batch;
  batch.inputs = std::span<const T>(inputs_).first(samples.size() * pixel_count);
  batch.labels = std::span<const std::uint8_t>(labels_).first(samples.size());
  batch.samples = samples;
  return batch;
}

template class BatchBuffer<float>;
template class BatchBuffer<double>;

}  // namespace rota

// Views of data sets, and batches of their samples.
#include <rota/dataset.h>

#include <algorithm>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "base/counted.h"
#include "kernels/layer_steps.h"

namespace rota {
namespace {

// Samples are scattered in memory. While sample i of the batch is converted, sample i + 2 is
// prefetched.
constexpr std::size_t kFetchedAhead = 2;

void fetch(std::span<const std::uint8_t> pixels) noexcept {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < pixels.size(); at += kLine) __builtin_prefetch(&pixels[at]);
}

}  // namespace

DatasetView::DatasetView(const Dataset& data) : data_(&data), is_whole_(true) {}

DatasetView::DatasetView(const Dataset& data, std::vector<std::uint64_t> samples)
    : data_(&data), is_whole_(false), samples_(std::move(samples)) {
  for (const std::uint64_t sample : samples_) {
    if (sample < data.count()) continue;
    throw Error(ErrorCode::kInvalidArgument, "sample " + std::to_string(sample) +
                                                 " of a view is not in its data set of " +
                                                 base::counted_samples(data.count()));
  }
}

template <class T>
BatchBuffer<T>::BatchBuffer(const Dataset& dataset, std::size_t capacity)
    : dataset_(&dataset), inputs_(capacity * dataset.shape.count()), labels_(capacity) {}

template <class T>
Batch<T> BatchBuffer<T>::gather(std::span<const std::uint64_t> samples) noexcept {
  ROTA_ASSERT(samples.size() <= labels_.size());
  const std::size_t pixel_count = dataset_->shape.count();
  const auto pixels_of = [&](std::size_t i) {
    const auto sample = static_cast<std::size_t>(samples[i]);
    return std::span(dataset_->pixels).subspan(sample * pixel_count, pixel_count);
  };
  T* input = inputs_.data();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i + kFetchedAhead < samples.size()) fetch(pixels_of(i + kFetchedAhead));
    labels_[i] = dataset_->labels[static_cast<std::size_t>(samples[i])];
    const std::span<const std::uint8_t> pixels = pixels_of(i);
    input = std::transform(pixels.begin(), pixels.end(), input,
                           [](std::uint8_t pixel) { return kernels::scaled_pixel<T>(pixel); });
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

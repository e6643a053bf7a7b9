// Has labelled images as bytes. All replicas of a process may share one data set that was read
// once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/export.h>
#include <rota/model.h>

namespace rota {

struct Dataset {
  ImageShape shape;
  std::size_t classes = 0;           // Every label is below this number.
  std::vector<std::uint8_t> pixels;  // count() × shape.count(), row-major; 0 is background.
  std::vector<std::uint8_t> labels;  // One for each sample.
  std::size_t count() const noexcept { return labels.size(); }
};

// Some samples of a Dataset, such as its training part. A view is copied with the list of its
// samples. `data` is borrowed, and must outlive the view.
class ROTA_EXPORT DatasetView {
 public:
  // All samples of a data set.
  DatasetView(const Dataset& data);  // NOLINT(google-explicit-constructor): a view of all of it.
  // The samples at these positions of `data`. Throws Error kInvalidArgument if `data` has no such
  // position.
  DatasetView(const Dataset& data, std::vector<std::uint64_t> samples);

  const Dataset& dataset() const noexcept { return *data_; }
  std::size_t count() const noexcept { return is_whole_ ? data_->count() : samples_.size(); }

  // Returns the position in the data set of sample `index` of the view. Requires index < count().
  std::uint64_t sample(std::size_t index) const noexcept {
    return is_whole_ ? index : samples_[index];
  }
  bool is_whole() const noexcept { return is_whole_; }

 private:
  const Dataset* data_;
  bool is_whole_;
  std::vector<std::uint64_t> samples_;
};

// Gathers samples of a Dataset into the Batch that a Model expects. Only the constructor allocates.
// T is float or double. One thread at a time may use a BatchBuffer.
template <class T>
class ROTA_EXPORT BatchBuffer {
 public:
  // `dataset` is borrowed, and must outlive this object. `capacity` is the largest number of
  // samples in a batch.
  BatchBuffer(const Dataset& dataset, std::size_t capacity);

  // Returns a batch of `samples`, which are positions in the data set. Pixels are scaled to [0, 1].
  // `samples` is borrowed, and the batch is valid, until the next call. The caller sets the seed
  // and the step of the batch. Requires samples.size() <= capacity.
  Batch<T> gather(std::span<const std::uint64_t> samples) noexcept;

 private:
  const Dataset* dataset_;
  std::vector<T> inputs_;
  std::vector<std::uint8_t> labels_;
};

extern template class BatchBuffer<float>;
extern template class BatchBuffer<double>;

}  // namespace rota

// Labelled images, as bytes. Read once, they may be shared by all replicas of a process.
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
  std::size_t classes = 0;           // Every label is below it.
  std::vector<std::uint8_t> pixels;  // count() × shape.count(), row-major; 0 is background.
  std::vector<std::uint8_t> labels;  // One a sample.
  std::size_t count() const noexcept { return labels.size(); }
};

// Gathers samples of a Dataset into the Batch that a Model takes. Allocates when it is made only.
// T is float or double. One thread at a time.
template <class T>
class ROTA_EXPORT BatchBuffer {
 public:
  // `dataset` is lent, and must outlive this; `capacity` is the largest number of samples in a
  // batch.
  BatchBuffer(const Dataset& dataset, std::size_t capacity);

  // A batch of `samples` (positions in the data set, lent like the result until the next call),
  // pixels scaled to [0, 1]. Its seed and step are left for the caller to set.
  // Requires samples.size() <= capacity.
  Batch<T> gather(std::span<const std::uint64_t> samples) noexcept;

 private:
  const Dataset* dataset_;
  std::vector<T> inputs_;
  std::vector<std::uint8_t> labels_;
};

extern template class BatchBuffer<float>;
extern template class BatchBuffer<double>;

}  // namespace rota

// The first images of the example's data, as a data set of its own: runs on it take a second.
#pragma once
#include <cstdint>

#include <rota/idx.h>

#include "testing/paths.h"
#include "training/idx_bytes.h"
#include "training/temporary_folder.h"

namespace rota::testing {

inline Bytes images_of(const Dataset& data, std::uint32_t count) {
  const auto end = static_cast<std::ptrdiff_t>(count * data.shape.count());
  return joined(idx_header(kImageMagic, {count, 28, 28}),
                Bytes(data.pixels.begin(), data.pixels.begin() + end));
}

inline Bytes labels_of(const Dataset& data, std::uint32_t count) {
  return joined(idx_header(kLabelMagic, {count}),
                Bytes(data.labels.begin(), data.labels.begin() + count));
}

inline void write_few_images(TemporaryFolder& folder, std::uint32_t train_count,
                             std::uint32_t test_count) {
  static const TrainAndTest kImages = read_idx_folder(source_path("examples/mnist/data"));
  folder.write("train-images-idx3-ubyte", images_of(kImages.train, train_count));
  folder.write("train-labels-idx1-ubyte", labels_of(kImages.train, train_count));
  folder.write("t10k-images-idx3-ubyte", images_of(kImages.test, test_count));
  folder.write("t10k-labels-idx1-ubyte", labels_of(kImages.test, test_count));
}

}  // namespace rota::testing

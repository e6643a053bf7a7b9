// Turns labelled images and records into the batches of a Model.
#include <rota/source.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "base/assert.h"
#include "base/hash.h"

namespace rota {
namespace {

std::string to_text(const ImageShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " +
         std::to_string(shape.channels);
}

void check_fit(const std::string& name, const Dataset& data, const ImageShape& shape,
               std::size_t classes) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, "the " + name + " set " + why);
  };
  if (data.shape.rows != shape.rows || data.shape.columns != shape.columns ||
      data.shape.channels != shape.channels) {
    refuse("has images of " + to_text(data.shape) + ", but the model takes " + to_text(shape));
  }
  if (data.pixels.size() != data.count() * shape.count()) {
    refuse("has " + std::to_string(data.pixels.size()) + " pixels for " +
           std::to_string(data.count()) + " images of " + to_text(shape));
  }
  const std::size_t largest = *std::max_element(data.labels.begin(), data.labels.end());
  if (largest >= classes) {
    refuse("has a label " + std::to_string(largest) + ", but the model has " +
           std::to_string(classes) + " classes");
  }
}

std::string digest_of(const DatasetView& data) {
  const auto hash = base::fnv1a(std::as_bytes(std::span(data.dataset().labels)));
  std::string labels = "labels' hash " + std::to_string(hash);
  if (data.is_whole()) return labels;
  std::uint64_t part = base::kFnvStart;
  for (std::size_t i = 0; i < data.count(); ++i) {
    const std::uint64_t sample = data.sample(i);
    part = base::fnv1a(std::as_bytes(std::span(&sample, 1)), part);
  }
  return labels + ", part " + std::to_string(part);
}

// Gathers the samples of a view under the names that they have in the data set.
template <class T>
class ViewGatherer {
 public:
  ViewGatherer(DatasetView data, std::size_t capacity)
      : data_(std::move(data)), buffer_(data_.dataset(), capacity), samples_(capacity) {}

  Batch<T> operator()(const SampleRun& run) {
    ROTA_ASSERT(run.samples.size() <= samples_.size());
    std::ranges::transform(run.samples, samples_.begin(), [this](std::uint64_t index) {
      return data_.sample(static_cast<std::size_t>(index));
    });
    Batch<T> batch = buffer_.gather(std::span(samples_).first(run.samples.size()));
    batch.seed = run.seed;
    batch.step = run.step;
    return batch;
  }

 private:
  DatasetView data_;
  BatchBuffer<T> buffer_;
  std::vector<std::uint64_t> samples_;
};

// Gathers pixels as they are, for a model on a device.
template <class T>
class PixelGatherer {
 public:
  PixelGatherer(DatasetView data, std::size_t capacity)
      : data_(std::move(data)),
        pixels_(capacity * data_.dataset().shape.count()),
        labels_(capacity),
        samples_(capacity) {}

  Batch<T> operator()(const SampleRun& run) {
    ROTA_ASSERT(run.samples.size() <= samples_.size());
    const Dataset& all = data_.dataset();
    const std::size_t count = all.shape.count();
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      samples_[i] = data_.sample(static_cast<std::size_t>(run.samples[i]));
      const auto sample = static_cast<std::size_t>(samples_[i]);
      std::memcpy(&pixels_[i * count], &all.pixels[sample * count], count);
      labels_[i] = all.labels[sample];
    }
    Batch<T> batch;
    batch.pixels = std::span(pixels_).first(run.samples.size() * count);
    batch.labels = std::span(labels_).first(run.samples.size());
    batch.samples = std::span(samples_).first(run.samples.size());
    batch.seed = run.seed;
    batch.step = run.step;
    return batch;
  }

 private:
  DatasetView data_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint64_t> samples_;
};

// Decodes records into memory of its own.
template <class T>
class RecordGatherer {
 public:
  RecordGatherer(const RecordReader& reader, std::size_t capacity, std::size_t input_count,
                 RecordDecoder<T> decode, bool skips_damaged)
      : reader_(&reader),
        input_count_(input_count),
        decode_(std::move(decode)),
        skips_damaged_(skips_damaged),
        inputs_(capacity * input_count),
        labels_(capacity),
        samples_(capacity) {}

  Batch<T> operator()(const SampleRun& run) {
    ROTA_ASSERT(run.samples.size() <= labels_.size());
    std::size_t count = 0;
    for (const std::uint64_t sample : run.samples) {
      const auto index = static_cast<std::size_t>(sample);
      const auto record =
          skips_damaged_ ? reader_->record_if_whole(index) : std::optional(reader_->record(index));
      if (!record) continue;
      const auto input = std::span(inputs_).subspan(count * input_count_, input_count_);
      labels_[count] = decode_(*record, input);
      samples_[count] = sample;
      ++count;
    }
    return {std::span(inputs_).first(count * input_count_), std::span(labels_).first(count),
            std::span(samples_).first(count), run.seed, run.step};
  }

 private:
  const RecordReader* reader_;
  std::size_t input_count_;
  RecordDecoder<T> decode_;
  bool skips_damaged_;
  std::vector<T> inputs_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint64_t> samples_;
};

}  // namespace

template <class T>
BatchSource<T> samples_of(const DatasetView& data, const Model<T>& model, std::size_t largest_batch,
                          const std::string& name) {
  if (data.count() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "the " + name + " set is empty");
  }
  check_fit(name, data.dataset(), model.input_shape(), model.classes());
  if (!model.memory().is_host()) {
    return {data.count(), digest_of(data), PixelGatherer<T>(data, largest_batch), {}};
  }
  return {data.count(), digest_of(data), ViewGatherer<T>(data, largest_batch), {}};
}

template <class T>
BatchSource<T> records_of(const RecordReader& reader, const Model<T>& model,
                          std::size_t largest_batch, std::type_identity_t<RecordDecoder<T>> decode,
                          const RecordSourceOptions& options) {
  return {reader.count(), options.digest,
          RecordGatherer<T>(reader, largest_batch, model.input_shape().count(), std::move(decode),
                            options.skips_damaged),
          reader.shard_counts()};
}

template BatchSource<float> samples_of(const DatasetView&, const Model<float>&, std::size_t,
                                       const std::string&);
template BatchSource<double> samples_of(const DatasetView&, const Model<double>&, std::size_t,
                                        const std::string&);
template BatchSource<float> records_of(const RecordReader&, const Model<float>&, std::size_t,
                                       RecordDecoder<float>, const RecordSourceOptions&);
template BatchSource<double> records_of(const RecordReader&, const Model<double>&, std::size_t,
                                        RecordDecoder<double>, const RecordSourceOptions&);

}  // namespace rota

// Data sets as a Trainer sees them: a number of samples, and a function that makes batches of them.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <rota/dataset.h>
#include <rota/export.h>
#include <rota/model.h>
#include <rota/records.h>

namespace rota {

// Some samples of a data set, borrowed for a call.
struct SampleRun {
  std::span<const std::uint64_t> samples;  // Positions in the data set.
  std::uint64_t seed = 0;                  // Seed of the training run, for random draws.
  std::uint64_t step = 0;                  // Steps of that run before this one, for random draws.
};

// A data set as a Trainer sees it. `B` is the batch type of its model.
template <class B>
struct SampleSource {
  std::size_t count = 0;
  std::string digest;  // Ranks compare it. Example: a hash of the labels, or a version.
  // Makes a batch, of up to TrainerOptions::batch_size samples. The batch may refer to memory that
  // is valid until the next call. Copies of the function need memory of their own.
  std::function<B(const SampleRun&)> gather;
  // The number of samples of each shard, in order; empty: there is one shard. Only for
  // TrainerOptions::shuffle_window.
  std::vector<std::size_t> shards = {};
};

// What a Model<T> trains on.
template <class T>
using BatchSource = SampleSource<Batch<T>>;

// Makes a source of labelled images. Its data set is borrowed, and must outlive the result.
// `largest_batch` is the largest number of samples in a batch. Throws Error kInvalidArgument if
// `data` does not fit the model; the Error's text contains `name`.
template <class T>
ROTA_EXPORT BatchSource<T> samples_of(const DatasetView& data, const Model<T>& model,
                                      std::size_t largest_batch, const std::string& name);

extern template BatchSource<float> samples_of(const DatasetView&, const Model<float>&, std::size_t,
                                              const std::string&);
extern template BatchSource<double> samples_of(const DatasetView&, const Model<double>&,
                                               std::size_t, const std::string&);

struct RecordSourceOptions {
  std::string digest;          // See SampleSource.
  bool skips_damaged = false;  // A batch leaves out damaged records, and RecordReader counts them.
};

// Makes a source of records. Each record is one sample. `reader` is borrowed, and must outlive the
// result. `decode(record, batch)` adds a sample to the end of a batch, which is empty at first. The
// record is borrowed for the call. gather() throws what `decode` throws, and Error kBadData for a
// damaged record that is not skipped.
template <std::default_initializable B, std::invocable<std::span<const std::byte>, B&> Decode>
SampleSource<B> records_of(const RecordReader& reader, Decode decode,
                           const RecordSourceOptions& options = {}) {
  return {reader.count(), options.digest,
          [&reader, decode = std::move(decode),
           skips = options.skips_damaged](const SampleRun& run) mutable {
            B batch{};
            for (const std::uint64_t sample : run.samples) {
              const auto index = static_cast<std::size_t>(sample);
              const auto record =
                  skips ? reader.record_if_whole(index) : std::optional(reader.record(index));
              if (record) decode(*record, batch);
            }
            return batch;
          },
          reader.shard_counts()};
}

// Writes the inputs of one sample, ImageShape::count() numbers, and returns the sample's label.
template <class T>
using RecordDecoder =
    std::function<std::uint8_t(std::span<const std::byte> record, std::span<T> inputs)>;

// Makes a source of records for a Model<T>. gather() allocates nothing. `largest_batch` is the
// largest number of samples in a batch.
template <class T>
ROTA_EXPORT BatchSource<T> records_of(const RecordReader& reader, const Model<T>& model,
                                      std::size_t largest_batch,
                                      std::type_identity_t<RecordDecoder<T>> decode,
                                      const RecordSourceOptions& options = {});

extern template BatchSource<float> records_of(const RecordReader&, const Model<float>&, std::size_t,
                                              RecordDecoder<float>, const RecordSourceOptions&);
extern template BatchSource<double> records_of(const RecordReader&, const Model<double>&,
                                               std::size_t, RecordDecoder<double>,
                                               const RecordSourceOptions&);

}  // namespace rota

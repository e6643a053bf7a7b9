// Splits a data set into parts: to train on, to choose settings by (validation), and to report on
// at the end (test).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/dataset.h>
#include <rota/export.h>
#include <rota/source.h>

namespace rota {

struct SplitOptions {
  double validation = 0.1;  // Fraction of the samples, from 0 to 1, rounded to a millionth.
  double test = 0;          // Like `validation`.
  std::uint64_t seed = 1;   // Draws which samples are in which part.
  // Each class has its share in each part: the count of a class differs from its share by less than
  // one in the validation part, and by less than two in the others.
  bool stratified = false;
};

// The positions of the samples of each part, in ascending order. Each sample is in one part.
struct SplitSamples {
  std::vector<std::uint64_t> train;
  std::vector<std::uint64_t> validation;
  std::vector<std::uint64_t> test;
};

// Splits `count` samples of any kind. The result depends on the arguments alone, and is the same on
// every machine. `labels` has a class for each sample; it may be empty unless the split is
// stratified. Throws Error kInvalidArgument if a fraction makes no sense, if the training part or a
// part that was asked for would be empty, or if there are not `count` labels.
ROTA_EXPORT SplitSamples split_samples(std::size_t count, const SplitOptions& options,
                                       std::span<const std::uint8_t> labels = {});

struct DatasetSplit {
  DatasetView train;
  DatasetView validation;  // Empty if its fraction is 0. So is `test`.
  DatasetView test;
};

// Splits a Dataset, by its labels. `data` is borrowed, and must outlive the parts.
ROTA_EXPORT DatasetSplit split(const Dataset& data, const SplitOptions& options = {});

// Returns the digest of a part of a source, for part_of(). `count` and `digest` are the source's.
// Throws Error kInvalidArgument unless all `samples` are below `count`.
ROTA_EXPORT std::string digest_of_part(std::size_t count, const std::string& digest,
                                       std::span<const std::uint64_t> samples);

// Used by part_of(). Returns the number of `samples` in each of `shards`, or nothing if they are
// not ascending.
ROTA_EXPORT std::vector<std::size_t> shards_of_part(std::span<const std::size_t> shards,
                                                    std::span<const std::uint64_t> samples);

// Makes a source of some samples of `source`. `samples` are positions in `source`; positions in the
// result count from 0. Throws Error kInvalidArgument if a position is not in `source`.
template <class B>
SampleSource<B> part_of(const SampleSource<B>& source, std::vector<std::uint64_t> samples) {
  std::string digest = digest_of_part(source.count, source.digest, samples);
  std::vector<std::size_t> shards = shards_of_part(source.shards, samples);
  const std::size_t count = samples.size();
  return {count, std::move(digest),
          [gather = source.gather, samples = std::move(samples),
           chosen = std::vector<std::uint64_t>()](const SampleRun& run) mutable {
            chosen.clear();
            for (const std::uint64_t sample : run.samples) {
              chosen.push_back(samples[static_cast<std::size_t>(sample)]);
            }
            return gather({chosen, run.seed, run.step});
          },
          std::move(shards)};
}

}  // namespace rota

// Deals the samples of a data set into parts, in integer arithmetic.
#include <rota/split.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/counted.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "training/shuffle.h"

namespace rota {
namespace {

using Positions = std::vector<std::uint64_t>;

constexpr std::uint64_t kMillion = 1'000'000;

[[noreturn]] void refuse_split(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "the split of a data set: " + why);
}

std::uint64_t millionths(const char* part, double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) {
    refuse_split(std::string(part) + " fraction " + base::shortest_text(fraction) +
                 ": expected 0 to 1");
  }
  return static_cast<std::uint64_t>(std::llround(fraction * static_cast<double>(kMillion)));
}

// Returns `count` × `share` / 1,000,000, rounded.
std::uint64_t share_of(std::uint64_t count, std::uint64_t share) noexcept {
  return count / kMillion * share + (count % kMillion * share + kMillion / 2) / kMillion;
}

void refuse_if_empty(const char* part, double fraction, std::uint64_t samples, std::size_t count) {
  if (fraction <= 0 || samples > 0) return;
  refuse_split("the " + std::string(part) + " part, " + base::shortest_text(fraction) + " of " +
               base::counted_samples(count) + ", would be empty: take a larger fraction, or 0");
}

// Moves `wanted` positions out of `from`, at equal distances. So each class, whose positions follow
// one another, gives its share.
Positions take_evenly(Positions& from, std::uint64_t wanted) {
  Positions taken;
  Positions left;
  taken.reserve(static_cast<std::size_t>(wanted));
  left.reserve(from.size() - static_cast<std::size_t>(wanted));
  std::uint64_t due = 0;
  for (const std::uint64_t position : from) {
    due += wanted;
    const bool is_due = due >= from.size();
    if (is_due) due -= from.size();
    (is_due ? taken : left).push_back(position);
  }
  from = std::move(left);
  return taken;
}

}  // namespace

SplitSamples split_samples(std::size_t count, const SplitOptions& options,
                           std::span<const std::uint8_t> labels) {
  const std::uint64_t validation = millionths("validation", options.validation);
  const std::uint64_t test = millionths("test", options.test);
  if (options.stratified && labels.size() != count) {
    refuse_split(std::to_string(labels.size()) + " labels for " + base::counted_samples(count) +
                 ": a stratified split needs a label for each sample");
  }
  const std::uint64_t validation_count = share_of(count, validation);
  const std::uint64_t test_count = share_of(count, test);
  if (validation_count + test_count >= count) {
    refuse_split("no samples would be left to train on: validation " +
                 base::shortest_text(options.validation) + " and test " +
                 base::shortest_text(options.test) + " take all " + base::counted_samples(count) +
                 "; take smaller fractions");
  }
  refuse_if_empty("validation", options.validation, validation_count, count);
  refuse_if_empty("test", options.test, test_count, count);

  SplitSamples parts;
  parts.train.resize(count);
  std::iota(parts.train.begin(), parts.train.end(), std::uint64_t{0});
  training::shuffle(parts.train,
                    training::order_key(options.seed, training::OrderStream::kSplit, 0));
  if (options.stratified) {
    std::ranges::stable_sort(parts.train, {}, [&](std::uint64_t sample) {
      return labels[static_cast<std::size_t>(sample)];
    });
  }
  parts.validation = take_evenly(parts.train, validation_count);
  parts.test = take_evenly(parts.train, test_count);
  for (Positions* part : {&parts.train, &parts.validation, &parts.test}) std::ranges::sort(*part);
  return parts;
}

DatasetSplit split(const Dataset& data, const SplitOptions& options) {
  SplitSamples parts = split_samples(data.count(), options, data.labels);
  return {DatasetView(data, std::move(parts.train)), DatasetView(data, std::move(parts.validation)),
          DatasetView(data, std::move(parts.test))};
}

std::string digest_of_part(std::size_t count, const std::string& digest,
                           std::span<const std::uint64_t> samples) {
  const auto outside =
      std::ranges::find_if(samples, [&](std::uint64_t sample) { return sample >= count; });
  if (outside != samples.end()) {
    throw Error(ErrorCode::kInvalidArgument, "sample " + std::to_string(*outside) +
                                                 " of a part is not in its source of " +
                                                 base::counted_samples(count));
  }
  return (digest.empty() ? "" : digest + ", ") + "part " +
         std::to_string(base::fnv1a(std::as_bytes(samples)));
}

std::vector<std::size_t> shards_of_part(std::span<const std::size_t> shards,
                                        std::span<const std::uint64_t> samples) {
  if (!std::ranges::is_sorted(samples)) return {};
  std::vector<std::size_t> counts;
  counts.reserve(shards.size());
  std::uint64_t end = 0;
  auto first = samples.begin();
  for (const std::size_t shard : shards) {
    end += shard;
    const auto next = std::lower_bound(first, samples.end(), end);
    counts.push_back(static_cast<std::size_t>(next - first));
    first = next;
  }
  return counts;
}

}  // namespace rota

// Draws the order of shards, and the order in each window of their samples.
#include <rota/windowed_order.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include <rota/error.h>

#include "base/assert.h"
#include "training/shuffle.h"

namespace rota {
namespace {

constexpr std::uint64_t kNoWindow = std::numeric_limits<std::uint64_t>::max();

}  // namespace

WindowedOrder::WindowedOrder(std::size_t window, std::span<const std::size_t> shards,
                             std::uint64_t seed)
    : window_(window), seed_(seed), visits_(shards.size()), drawn_index_(kNoWindow) {
  if (window == 0) {
    throw Error(ErrorCode::kInvalidArgument, "shuffle window of 0 samples: expected 1 or more");
  }
  firsts_.reserve(shards.size() + 1);
  firsts_.push_back(0);
  for (const std::size_t samples : shards) firsts_.push_back(count_ += samples);
  begins_.resize(shards.size());
  drawn_.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(window, count_)));
}

void WindowedOrder::shuffle(std::uint64_t epoch) noexcept {
  using training::OrderStream;
  std::iota(visits_.begin(), visits_.end(), std::uint64_t{0});
  training::shuffle(visits_, training::order_key(seed_, OrderStream::kShards, epoch));
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < visits_.size(); ++i) {
    const auto shard = static_cast<std::size_t>(visits_[i]);
    begins_[i] = begin;
    begin += firsts_[shard + 1] - firsts_[shard];
  }
  epoch_key_ = training::order_key(seed_, OrderStream::kSamples, epoch);
  is_shuffled_ = true;
  drawn_index_ = kNoWindow;
}

void WindowedOrder::copy(std::uint64_t first, std::span<std::uint64_t> samples) noexcept {
  ROTA_ASSERT(first + samples.size() <= count_);
  if (!is_shuffled_) {
    std::iota(samples.begin(), samples.end(), first);
    return;
  }
  while (!samples.empty()) {
    if (drawn_index_ != first / window_) draw_window(first / window_);
    const std::span rest = std::span(drawn_).subspan(static_cast<std::size_t>(first % window_));
    const std::size_t count = std::min(rest.size(), samples.size());
    std::ranges::copy(rest.first(count), samples.begin());
    samples = samples.subspan(count);
    first += count;
  }
}

void WindowedOrder::draw_window(std::uint64_t index) noexcept {
  const std::uint64_t begin = index * window_;
  const std::uint64_t end = begin + std::min<std::uint64_t>(window_, count_ - begin);
  drawn_.clear();
  const auto next = std::ranges::upper_bound(begins_, begin);
  for (auto i = static_cast<std::size_t>(next - begins_.begin()) - 1; i < visits_.size(); ++i) {
    if (begins_[i] >= end) break;
    const auto shard = static_cast<std::size_t>(visits_[i]);
    const std::uint64_t shard_end = begins_[i] + firsts_[shard + 1] - firsts_[shard];
    for (auto at = std::max(begin, begins_[i]); at < std::min(end, shard_end); ++at) {
      drawn_.push_back(firsts_[shard] + at - begins_[i]);
    }
  }
  training::shuffle(drawn_,
                    training::order_key(epoch_key_, training::OrderStream::kWindows, index));
  drawn_index_ = index;
}

}  // namespace rota

// Lays out gradients in buckets in host memory, and copies attached gradients in and out.
#include <rota/gradient_buckets.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include <rota/error.h>

#include "training/agreement.h"
#include "training/bucket_order.h"

namespace rota {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

template <class T>
std::vector<std::size_t> counts_of(const std::vector<std::span<T>>& gradients) {
  std::vector<std::size_t> counts;
  counts.reserve(gradients.size());
  for (const std::span<T>& gradient : gradients) counts.push_back(gradient.size());
  return counts;
}

// Where the values of a gradient are: in a bucket, or attached.
struct GradientExtent {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::size_t index;
};

template <class T>
void add_extent(std::vector<GradientExtent>& extents, std::span<T> values, std::size_t index) {
  const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
  if (!values.empty()) extents.push_back({begin, begin + values.size_bytes(), index});
}

[[noreturn]] void refuse_overlap(std::size_t one, std::size_t other) {
  throw Error(
      ErrorCode::kInvalidArgument,
      "gradients " + std::to_string(std::min(one, other)) + " and " +
          std::to_string(std::max(one, other)) +
          " overlap in memory, so values in both would be summed twice: give this memory as "
          "one gradient, and mark it ready after its last part was added");
}

training::Facts facts_of(const std::vector<Values>& parameters) {
  training::Facts facts;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    facts.emplace_back("parameter " + std::to_string(index) + " of",
                       std::to_string(parameters[index].count()) + " elements of " +
                           std::string(to_string(parameters[index].type())));
  }
  return facts;
}

}  // namespace

BucketLayout lay_out_buckets(std::span<const std::size_t> counts, std::size_t element_bytes,
                             const BucketOptions& options, std::size_t world_size) {
  const std::size_t alignment = kAlignment / element_bytes;
  BucketLayout layout;
  layout.gradients.resize(counts.size());
  layout.bucket_of.resize(counts.size());
  std::size_t room = 0;  // Elements that the current bucket may still take.
  for (std::size_t index = counts.size(); index-- > 0;) {
    const std::size_t offset = layout.count;
    const std::size_t padded = round_up(counts[index], alignment);
    if (layout.buckets.empty() || padded > room) {
      const bool first = layout.buckets.empty();
      room = (first ? options.first_bucket_bytes : options.bucket_bytes_in(world_size)) /
             element_bytes;
      layout.buckets.push_back({offset, 0});
      layout.population.push_back(0);
    }
    Slice& bucket = layout.buckets.back();
    bucket.count = offset + counts[index] - bucket.offset;  // Padding at the end is not sent.
    ++layout.population.back();
    layout.gradients[index] = {offset, counts[index]};
    layout.bucket_of[index] = layout.buckets.size() - 1;
    room -= std::min(room, padded);
    layout.count = offset + padded;
  }
  return layout;
}

template <class T>
GradientBuckets<T>::GradientBuckets(Communicator& communicator, std::span<const std::size_t> counts,
                                    const BucketOptions& options)
    : communicator_(communicator),
      order_(std::make_unique<BucketOrder>(communicator, counts, sizeof(T), options)) {
  memory_ = communicator.allocate(layout().count * sizeof(T));
  values_ = {reinterpret_cast<T*>(memory_.bytes().data()), layout().count};
  attached_.resize(counts.size());
  if (order_->feeds_back()) feedback_.resize(layout().count);
}

template <class T>
GradientBuckets<T>::GradientBuckets(Communicator& communicator,
                                    const std::vector<std::span<T>>& gradients,
                                    const BucketOptions& options)
    : GradientBuckets(communicator, counts_of(gradients), options) {
  for (std::size_t index = 0; index < gradients.size(); ++index) attach(index, gradients[index]);
  require_apart();
}

template <class T>
GradientBuckets<T>::~GradientBuckets() = default;

template <class T>
const BucketLayout& GradientBuckets<T>::layout() const noexcept {
  return order_->layout();
}

template <class T>
double GradientBuckets<T>::waited_seconds() const noexcept {
  return order_->waited_seconds();
}

template <class T>
std::span<T> GradientBuckets<T>::gradient(std::size_t index) const noexcept {
  const Slice& slice = layout().gradients[index];
  return values_.subspan(slice.offset, slice.count);
}

template <class T>
std::span<T> GradientBuckets<T>::bucket_values(std::size_t bucket) const noexcept {
  const Slice& slice = layout().buckets[bucket];
  return values_.subspan(slice.offset, slice.count);
}

template <class T>
void GradientBuckets<T>::attach(std::size_t index, std::span<T> gradient) {
  order_->check_index(index);
  const std::size_t count = layout().gradients[index].count;
  if (gradient.size() != count) {
    throw Error(ErrorCode::kInvalidArgument,
                "gradient " + std::to_string(index) + " has " + std::to_string(count) +
                    " elements, but is attached to memory of " + std::to_string(gradient.size()));
  }
  attached_[index] = gradient;
  may_overlap_ = true;
}

// An attached gradient also has a place in a bucket, which no other gradient may use. The two
// extents of one gradient may overlap, and have the same length. So if any two extents of different
// gradients overlap, there are two such neighbours in the order of their addresses.
template <class T>
void GradientBuckets<T>::require_apart() {
  std::vector<GradientExtent> extents;
  for (std::size_t index = 0; index < attached_.size(); ++index) {
    add_extent(extents, gradient(index), index);
    add_extent(extents, attached_[index], index);
  }
  std::ranges::sort(extents, {}, &GradientExtent::begin);
  const auto overlap = [](const GradientExtent& a, const GradientExtent& b) {
    return a.index != b.index && a.end > b.begin;
  };
  const auto found = std::ranges::adjacent_find(extents, overlap);
  if (found != extents.end()) refuse_overlap(found[0].index, found[1].index);
  may_overlap_ = false;
}

template <class T>
void GradientBuckets<T>::begin_step(std::uint64_t sample_count, std::span<const double> sums) {
  if (may_overlap_) require_apart();
  order_->begin_step(sample_count, sums);
}

template <class T>
void GradientBuckets<T>::send_sums() {
  order_->send_sums();
}

template <class T>
void GradientBuckets<T>::ready(std::size_t index) {
  order_->mark_ready(index);
  if (const std::span<T>& theirs = attached_[index]; !theirs.empty()) {
    std::copy(theirs.begin(), theirs.end(), gradient(index).begin());
    copied_bytes_ += theirs.size_bytes();
  }
  while (const auto bucket = order_->next_full()) order_->on_sent(begin_sum(*bucket));
}

template <class T>
Request GradientBuckets<T>::begin_sum(std::size_t bucket) {
  const std::span<T> values = bucket_values(bucket);
  const Reduction sum = order_->sum_of(bucket);
  if (!order_->feeds_back(bucket)) return communicator_.all_reduce_async(values, sum);
  if (guard_ != nullptr) guard_->before_send(bucket);
  for (const Slice& gap : order_->gaps_of(bucket)) {
    std::ranges::fill(values_.subspan(gap.offset, gap.count), T{});
  }
  const Slice& slice = layout().buckets[bucket];
  const auto feedback = std::span(feedback_).subspan(slice.offset, slice.count);
  return communicator_.all_reduce_with_feedback_async(values, feedback, sum);
}

template <class T>
std::uint64_t GradientBuckets<T>::world_sample_count() {
  return order_->world_sample_count();
}

template <class T>
std::span<const double> GradientBuckets<T>::world_sums() {
  return order_->world_sums();
}

template <class T>
void GradientBuckets<T>::wait(std::size_t bucket) {
  order_->check_sent(bucket);
  if (order_->is_collected(bucket)) return;
  order_->collect(bucket);
  copy_back(bucket);
}

template <class T>
void GradientBuckets<T>::copy_back(std::size_t bucket) noexcept {
  for (std::size_t index = 0; index < attached_.size(); ++index) {
    const std::span<T>& theirs = attached_[index];
    if (theirs.empty() || layout().bucket_of[index] != bucket) continue;
    const std::span<T> sum = gradient(index);
    std::copy(sum.begin(), sum.end(), theirs.begin());
    copied_bytes_ += theirs.size_bytes();
  }
}

template <class T>
void GradientBuckets<T>::wait() {
  world_sums();
  for (std::size_t bucket = 0; bucket < order_->bucket_count(); ++bucket) wait(bucket);
}

// Between gradients, a bucket has zeros, of which no codec loses anything.
template <class T>
void GradientBuckets<T>::visit_state(StateVisitor& visitor) {
  order_->visit_state(visitor);
  for (const std::size_t index : order_->gradients_fed_back()) {
    const Slice& slice = layout().gradients[index];
    StatePiece piece = order_->lost_of(index);
    piece.writer = StateWriter::kSend;
    visitor.visit_tensor(piece, std::span(&slice.count, 1),
                         std::span(feedback_).subspan(slice.offset, slice.count));
  }
}

template class GradientBuckets<float>;
template class GradientBuckets<double>;
template class GradientBuckets<Float16>;
template class GradientBuckets<Bfloat16>;

void broadcast_parameters(Communicator& communicator, const std::vector<Values>& parameters,
                          std::size_t root) {
  training::check_agreement(communicator, facts_of(parameters));
  for (const Values& values : parameters) communicator.broadcast(values, root);
}

}  // namespace rota

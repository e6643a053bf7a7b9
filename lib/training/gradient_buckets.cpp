// Buckets: where gradients lie, and when each bucket's sum is begun.
#include <rota/gradient_buckets.h>

#include <algorithm>
#include <chrono>
#include <string>

#include <rota/error.h>

#include "base/assert.h"
#include "training/agreement.h"

namespace rota {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

// As much as travels with the post of an exchange. More is made room for when it comes.
constexpr std::size_t kUsualSums = 6;

template <class T>
std::vector<std::size_t> counts_of(const std::vector<std::span<T>>& gradients) {
  std::vector<std::size_t> counts;
  counts.reserve(gradients.size());
  for (const std::span<T>& gradient : gradients) counts.push_back(gradient.size());
  return counts;
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
                             const BucketOptions& options) {
  const std::size_t alignment = kAlignment / element_bytes;
  BucketLayout layout;
  layout.gradients.resize(counts.size());
  layout.bucket_of.resize(counts.size());
  std::size_t room = 0;  // What the current bucket may still take.
  for (std::size_t index = counts.size(); index-- > 0;) {
    const std::size_t offset = layout.count;
    const std::size_t padded = round_up(counts[index], alignment);
    if (layout.buckets.empty() || padded > room) {
      const bool first = layout.buckets.empty();
      room = (first ? options.first_bucket_bytes : options.bucket_bytes) / element_bytes;
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
      layout_(lay_out_buckets(counts, sizeof(T), options)),
      codec_(options.codec.value_or(communicator.codec())) {
  if (options.first_bucket_bytes == 0 || options.bucket_bytes == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a bucket of gradients needs room for a byte or more");
  }
  if (options.codec.value_or(Codec::kIdentity) != Codec::kIdentity && sizeof(T) != sizeof(float)) {
    throw Error(ErrorCode::kInvalidArgument, "codecs are for gradients of float32");
  }
  memory_ = communicator.allocate(layout_.count * sizeof(T));
  values_ = {reinterpret_cast<T*>(memory_.bytes().data()), layout_.count};
  sums_memory_ = communicator.allocate(kUsualSums * sizeof(double));
  attached_.resize(counts.size());
  marked_.resize(counts.size());
  requests_.resize(layout_.buckets.size());
  collected_.resize(layout_.buckets.size());
  bool feeds_back = false;
  for (std::size_t bucket = 0; bucket < layout_.buckets.size(); ++bucket) {
    feeds_back |= wants_feedback(codec_of(bucket));
  }
  if (feeds_back) feedback_.resize(layout_.count);
  missing_ = layout_.population;
}

template <class T>
GradientBuckets<T>::GradientBuckets(Communicator& communicator,
                                    const std::vector<std::span<T>>& gradients,
                                    const BucketOptions& options)
    : GradientBuckets(communicator, counts_of(gradients), options) {
  for (std::size_t index = 0; index < gradients.size(); ++index) attach(index, gradients[index]);
}

template <class T>
GradientBuckets<T>::~GradientBuckets() {
  const auto wait_out = [](Request& request) {
    try {
      request.wait();
    } catch (const Error&) {
      // Who makes the next call is told the same.
    }
  };
  wait_out(sums_request_);
  for (Request& request : requests_) wait_out(request);
}

template <class T>
std::span<T> GradientBuckets<T>::gradient(std::size_t index) const noexcept {
  const Slice& slice = layout_.gradients[index];
  return values_.subspan(slice.offset, slice.count);
}

template <class T>
void GradientBuckets<T>::check_index(std::size_t index) const {
  if (index < gradient_count()) return;
  throw Error(ErrorCode::kInvalidArgument, "there is no gradient " + std::to_string(index) +
                                               ": there are " + std::to_string(gradient_count()));
}

template <class T>
void GradientBuckets<T>::attach(std::size_t index, std::span<T> gradient) {
  check_index(index);
  const std::size_t count = layout_.gradients[index].count;
  if (gradient.size() != count) {
    throw Error(ErrorCode::kInvalidArgument,
                "gradient " + std::to_string(index) + " has " + std::to_string(count) +
                    " elements, but is attached to memory of " + std::to_string(gradient.size()));
  }
  attached_[index] = gradient;
}

// Where the communicator is broken, the cause is thrown instead.
template <class T>
void GradientBuckets<T>::refuse_uncollected(const std::string& what, Request& request) {
  request.wait_for(std::chrono::nanoseconds(0));
  throw Error(ErrorCode::kInvalidArgument,
              what +
                  " was sent in the step before, and nobody has waited for it: call wait() "
                  "before begin_step()");
}

template <class T>
void GradientBuckets<T>::require_all_collected() {
  for (std::size_t bucket = 0; bucket < sent_count_; ++bucket) {
    if (collected_[bucket] != 0) continue;
    refuse_uncollected("bucket " + std::to_string(bucket), requests_[bucket]);
  }
  if (sums_sent_ && !sums_collected_) refuse_uncollected("the count of samples", sums_request_);
}

template <class T>
void GradientBuckets<T>::begin_step(std::uint64_t sample_count, std::span<const double> sums) {
  require_all_collected();
  const std::size_t bytes = (1 + sums.size()) * sizeof(double);
  if (bytes > sums_memory_.bytes().size()) sums_memory_ = communicator_.allocate(bytes);
  sums_ = {reinterpret_cast<double*>(sums_memory_.bytes().data()), 1 + sums.size()};
  sums_.front() = static_cast<double>(sample_count);
  std::copy(sums.begin(), sums.end(), sums_.begin() + 1);
  sums_sent_ = false;
  sums_collected_ = false;
  missing_ = layout_.population;  // Of the same size: nothing is allocated.
  std::fill(marked_.begin(), marked_.end(), static_cast<unsigned char>(0));
  std::fill(collected_.begin(), collected_.end(), static_cast<unsigned char>(0));
  sent_count_ = 0;
}

// In front of all buckets, so that the count is there before the first of them is to be scaled.
template <class T>
void GradientBuckets<T>::send_sums() {
  if (sums_sent_ || sums_.empty()) return;
  sums_sent_ = true;
  sums_request_ = communicator_.all_reduce_async(sums_, ReduceOp::kSum);
}

template <class T>
void GradientBuckets<T>::collect_sums() {
  send_sums();
  if (sums_collected_) return;
  sums_request_.wait();
  sums_request_ = Request();
  sums_collected_ = true;
}

template <class T>
void GradientBuckets<T>::ready(std::size_t index) {
  check_index(index);
  if (marked_[index] != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "gradient " + std::to_string(index) + " was marked ready twice in one step");
  }
  send_sums();
  marked_[index] = 1;
  if (const std::span<T>& theirs = attached_[index]; !theirs.empty()) {
    std::copy(theirs.begin(), theirs.end(), gradient(index).begin());
    copied_bytes_ += theirs.size_bytes();
  }
  --missing_[layout_.bucket_of[index]];
  send_filled();
}

template <class T>
void GradientBuckets<T>::send_filled() {
  for (; sent_count_ < missing_.size() && missing_[sent_count_] == 0; ++sent_count_) {
    requests_[sent_count_] = begin_sum(sent_count_);
  }
}

template <class T>
Codec GradientBuckets<T>::codec_of(std::size_t bucket) const noexcept {
  const bool is_worth_it = layout_.buckets[bucket].count * sizeof(T) >= kLeastCodedBytes;
  const bool is_coded = is_worth_it && sizeof(T) == sizeof(float);
  return is_coded ? codec_ : Codec::kIdentity;
}

template <class T>
Request GradientBuckets<T>::begin_sum(std::size_t bucket) {
  const Slice& slice = layout_.buckets[bucket];
  const std::span<T> values = values_.subspan(slice.offset, slice.count);
  const Codec codec = codec_of(bucket);
  const Reduction sum = Reduction(ReduceOp::kSum).by(codec);
  if (!wants_feedback(codec)) return communicator_.all_reduce_async(values, sum);
  const auto feedback = std::span(feedback_).subspan(slice.offset, slice.count);
  return communicator_.all_reduce_with_feedback_async(values, feedback, sum);
}

template <class T>
std::uint64_t GradientBuckets<T>::world_sample_count() {
  collect_sums();
  return sums_.empty() ? 0 : static_cast<std::uint64_t>(sums_.front());
}

template <class T>
std::span<const double> GradientBuckets<T>::world_sums() {
  collect_sums();
  return sums_.empty() ? sums_ : sums_.subspan(1);
}

template <class T>
void GradientBuckets<T>::wait(std::size_t bucket) {
  if (bucket >= requests_.size()) {
    throw Error(ErrorCode::kInvalidArgument, "there is no bucket " + std::to_string(bucket) +
                                                 ": there are " + std::to_string(requests_.size()));
  }
  if (bucket >= sent_count_) {
    throw Error(ErrorCode::kInvalidArgument,
                "bucket " + std::to_string(bucket) + " was not sent: " +
                    std::to_string(missing_[sent_count_]) + " gradients of bucket " +
                    std::to_string(sent_count_) + " were not marked ready");
  }
  if (collected_[bucket] != 0) return;
  collect_sums();  // They travel in front of it.
  requests_[bucket].wait();
  requests_[bucket] = Request();
  copy_back(bucket);
  collected_[bucket] = 1;
}

template <class T>
void GradientBuckets<T>::copy_back(std::size_t bucket) noexcept {
  for (std::size_t index = 0; index < gradient_count(); ++index) {
    const std::span<T>& theirs = attached_[index];
    if (theirs.empty() || layout_.bucket_of[index] != bucket) continue;
    const std::span<T> sum = gradient(index);
    std::copy(sum.begin(), sum.end(), theirs.begin());
    copied_bytes_ += theirs.size_bytes();
  }
}

template <class T>
void GradientBuckets<T>::wait() {
  collect_sums();
  for (std::size_t bucket = 0; bucket < requests_.size(); ++bucket) wait(bucket);
}

template <class T>
void GradientBuckets<T>::visit_state(StateVisitor& visitor) {
  require_all_collected();
  visitor.visit_fact({.name = "codec"}, std::string(to_string(codec_)));
  for (std::size_t bucket = 0; bucket < layout_.buckets.size(); ++bucket) {
    if (!wants_feedback(codec_of(bucket))) continue;
    const Slice& slice = layout_.buckets[bucket];
    visitor.visit_tensor(
        {.name = "codec/bucket " + std::to_string(bucket) + "/lost", .owner = StateOwner::kRank},
        std::span(&slice.count, 1), std::span(feedback_).subspan(slice.offset, slice.count));
  }
}

template class GradientBuckets<float>;
template class GradientBuckets<double>;

void broadcast_parameters(Communicator& communicator, const std::vector<Values>& parameters,
                          std::size_t root) {
  training::check_agreement(communicator, facts_of(parameters));
  for (const Values& values : parameters) communicator.broadcast(values, root);
}

}  // namespace rota

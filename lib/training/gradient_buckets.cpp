// Buckets: where gradients lie, and when each bucket's sum is begun.
#include <rota/gradient_buckets.h>

#include <algorithm>
#include <string>

#include <rota/error.h>

namespace rota {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
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
    : communicator_(communicator), layout_(lay_out_buckets(counts, sizeof(T), options)) {
  if (options.first_bucket_bytes == 0 || options.bucket_bytes == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a bucket of gradients needs room for a byte or more");
  }
  memory_ = communicator.allocate(layout_.count * sizeof(T));
  values_ = {reinterpret_cast<T*>(memory_.bytes().data()), layout_.count};
  requests_.resize(layout_.buckets.size());
  missing_ = layout_.population;
  marked_.resize(counts.size());
}

template <class T>
GradientBuckets<T>::~GradientBuckets() {
  for (Request& request : requests_) {
    try {
      request.wait();
    } catch (const Error&) {
      // Who makes the next call is told the same.
    }
  }
}

template <class T>
std::span<T> GradientBuckets<T>::gradient(std::size_t index) const noexcept {
  const Slice& slice = layout_.gradients[index];
  return values_.subspan(slice.offset, slice.count);
}

template <class T>
void GradientBuckets<T>::begin_step() noexcept {
  missing_ = layout_.population;  // Of the same size: nothing is allocated.
  std::fill(marked_.begin(), marked_.end(), static_cast<unsigned char>(0));
  sent_count_ = 0;
}

template <class T>
void GradientBuckets<T>::ready(std::size_t index) {
  if (marked_[index] != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "gradient " + std::to_string(index) + " was marked ready twice in one step");
  }
  marked_[index] = 1;
  --missing_[layout_.bucket_of[index]];
  while (sent_count_ < missing_.size() && missing_[sent_count_] == 0) send(sent_count_++);
}

template <class T>
void GradientBuckets<T>::send(std::size_t bucket) {
  const Slice& slice = layout_.buckets[bucket];
  requests_[bucket] =
      communicator_.all_reduce_async(values_.subspan(slice.offset, slice.count), ReduceOp::kSum);
}

template <class T>
void GradientBuckets<T>::wait(std::size_t bucket) {
  if (bucket >= sent_count_) {
    throw Error(ErrorCode::kInvalidArgument,
                "bucket " + std::to_string(bucket) + " was not sent: " +
                    std::to_string(missing_[sent_count_]) + " gradients of bucket " +
                    std::to_string(sent_count_) + " were not marked ready");
  }
  requests_[bucket].wait();
  requests_[bucket] = Request();
}

template <class T>
void GradientBuckets<T>::wait() {
  for (std::size_t bucket = 0; bucket < requests_.size(); ++bucket) wait(bucket);
}

template class GradientBuckets<float>;
template class GradientBuckets<double>;

}  // namespace rota

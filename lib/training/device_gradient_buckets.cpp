// Keeps buckets in the memory of a device, and sends them in the order that all buckets have.
#include <rota/device_gradient_buckets.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "device/calls.h"
#include "training/bucket_order.h"

namespace rota {

template <class T>
DeviceGradientBuckets<T>::DeviceGradientBuckets(Communicator& communicator,
                                                std::span<const std::size_t> counts,
                                                const BucketOptions& options, std::uint8_t device)
    : communicator_(communicator),
      device_(device),
      order_(std::make_unique<BucketOrder>(communicator, counts, sizeof(T), options)) {
  memory_ = allocate_device(layout().count * sizeof(T), device);
  if (order_->feeds_back()) feedback_ = allocate_device(layout().count * sizeof(float), device);
  is_held_.resize(order_->bucket_count());
}

template <class T>
DeviceGradientBuckets<T>::~DeviceGradientBuckets() = default;

template <class T>
const BucketLayout& DeviceGradientBuckets<T>::layout() const noexcept {
  return order_->layout();
}

template <class T>
double DeviceGradientBuckets<T>::waited_seconds() const noexcept {
  return order_->waited_seconds();
}

template <class T>
DeviceSpan<T> DeviceGradientBuckets<T>::values_of(const Slice& slice) const noexcept {
  return memory_.as<T>().subspan(slice.offset, slice.count);
}

template <class T>
DeviceSpan<float> DeviceGradientBuckets<T>::feedback_of(const Slice& slice) const noexcept {
  return feedback_.as<float>().subspan(slice.offset, slice.count);
}

template <class T>
DeviceSpan<T> DeviceGradientBuckets<T>::gradient(std::size_t index) const noexcept {
  return values_of(layout().gradients[index]);
}

template <class T>
DeviceSpan<T> DeviceGradientBuckets<T>::bucket_values(std::size_t bucket) const noexcept {
  return values_of(layout().buckets[bucket]);
}

template <class T>
void DeviceGradientBuckets<T>::set_stream(const void* stream) noexcept {
  has_stream_ = true;
  stream_ = stream;
}

template <class T>
void DeviceGradientBuckets<T>::wait_for_held() {
  for (std::size_t bucket = 0; bucket < is_held_.size(); ++bucket) {
    if (is_held_[bucket] != 0) wait(bucket);
    is_held_[bucket] = 0;
  }
}

template <class T>
void DeviceGradientBuckets<T>::begin_step(std::uint64_t sample_count,
                                          std::span<const double> sums) {
  wait_for_held();
  order_->begin_step(sample_count, sums);
}

template <class T>
void DeviceGradientBuckets<T>::send_sums() {
  order_->send_sums();
}

template <class T>
void DeviceGradientBuckets<T>::ready(std::size_t index) {
  order_->mark_ready(index);
  while (const auto bucket = order_->next_full()) order_->on_sent(begin_sum(*bucket));
}

// Puts zeros between gradients, before the bucket is sent.
template <class T>
void DeviceGradientBuckets<T>::clear(DeviceSpan<T> gap) const {
  if (!has_stream_) {
    constexpr std::array<std::byte, 64> kZeros{};  // Gradients start at multiples of 64 bytes.
    return copy_to_device(bytes_of(gap), std::span(kZeros).first(gap.size() * sizeof(T)));
  }
  const cuda::On on = {.device = device_, .stream = to_stream_number(stream_)};
  device::check_stream(device::calls().clear(on, gap.address(), gap.size() * sizeof(T)), device_,
                       "the stream of the gradients");
}

// The feedback needs no stream: only sums write to it.
template <class T>
Request DeviceGradientBuckets<T>::begin_sum(std::size_t bucket) {
  const DeviceSpan<T> plain = bucket_values(bucket);
  const DeviceSpan<T> values = has_stream_ ? plain.on(stream_) : plain;
  const Reduction sum = order_->sum_of(bucket);
  if (!order_->feeds_back(bucket)) return communicator_.all_reduce_async(values, sum);
  for (const Slice& gap : order_->gaps_of(bucket)) clear(values_of(gap));
  const DeviceSpan<float> feedback = feedback_of(layout().buckets[bucket]);
  return communicator_.all_reduce_with_feedback_async(values, feedback, sum);
}

template <class T>
std::uint64_t DeviceGradientBuckets<T>::world_sample_count() {
  return order_->world_sample_count();
}

template <class T>
std::span<const double> DeviceGradientBuckets<T>::world_sums() {
  return order_->world_sums();
}

template <class T>
void DeviceGradientBuckets<T>::wait(std::size_t bucket) {
  order_->check_sent(bucket);
  if (!order_->is_collected(bucket)) order_->collect(bucket);
}

template <class T>
void DeviceGradientBuckets<T>::wait() {
  world_sums();
  for (std::size_t bucket = 0; bucket < order_->bucket_count(); ++bucket) wait(bucket);
}

template <class T>
void DeviceGradientBuckets<T>::wait_on(std::size_t bucket, const void* stream) {
  order_->check_sent(bucket);
  if (order_->is_collected(bucket)) return;
  order_->request_of(bucket).wait_on(stream, device_);
  is_held_[bucket] = 1;
}

template <class T>
void DeviceGradientBuckets<T>::visit_state(StateVisitor& visitor) {
  wait_for_held();
  order_->visit_state(visitor);
  std::vector<float> lost;
  for (const std::size_t index : order_->gradients_fed_back()) {
    const Slice& slice = layout().gradients[index];
    lost.resize(slice.count);
    copy_from_device(lost, feedback_of(slice));
    visitor.visit_tensor(order_->lost_of(index), std::span(&slice.count, 1), lost);
    if (visitor.writes()) copy_to_device(feedback_of(slice), lost);
  }
}

template class DeviceGradientBuckets<float>;
template class DeviceGradientBuckets<double>;
template class DeviceGradientBuckets<Float16>;
template class DeviceGradientBuckets<Bfloat16>;

}  // namespace rota

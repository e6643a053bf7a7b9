// Sums gradients that are in the memory of a device, as GradientBuckets does for host memory. A
// rank with buckets on a device and a rank with buckets in host memory work together: both lay out
// the same gradients alike, and send them in the same order.
//
//   buckets.set_stream(stream);                    // On which the backward pass computes.
//   buckets.begin_step(samples);
//   … backward; for each gradient that is final:   buckets.ready(index);
//   … for each bucket:                             buckets.wait_on(bucket, stream);
//   …                                              // Work that uses the sums follows on `stream`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rota/device_memory.h>
#include <rota/export.h>
#include <rota/gradient_buckets.h>

namespace rota {

// T is float, double, Float16 or Bfloat16. Only the values of gradients are on the device: the
// number of samples and the further sums of a step are the host's. One thread at a time may use
// this object: the thread that uses the Communicator.
template <class T>
class ROTA_EXPORT DeviceGradientBuckets {
 public:
  // The arguments are those of GradientBuckets, and the number of the device. With the same counts
  // and options, GradientBuckets on another rank has the same layout. Throws what GradientBuckets
  // and allocate_device() throw.
  DeviceGradientBuckets(Communicator& communicator, std::span<const std::size_t> counts,
                        const BucketOptions& options = {}, std::uint8_t device = 0);

  ~DeviceGradientBuckets();  // Waits for sums under way, at most until their deadlines.
  DeviceGradientBuckets(const DeviceGradientBuckets&) = delete;
  DeviceGradientBuckets& operator=(const DeviceGradientBuckets&) = delete;

  const BucketLayout& layout() const noexcept;
  std::uint8_t device() const noexcept { return device_; }

  // Returns the memory of gradient `index` inside its bucket, in which a model computes. Work may
  // write there from the end of a step until ready(index) in the next step. Requires index < the
  // number of gradients.
  DeviceSpan<T> gradient(std::size_t index) const noexcept;

  // Returns all values of `bucket`, as GradientBuckets does.
  DeviceSpan<T> bucket_values(std::size_t bucket) const noexcept;

  // From now on, a bucket is sent when all work is done that was on `stream`, a cudaStream_t of the
  // device, at the call of ready() that filled the bucket. Without this call, ready() requires that
  // the gradient is complete in memory. The stream must exist as long as ready() is called.
  void set_stream(const void* stream) noexcept;

  // Returns the seconds for which this object has waited for sums since the start.
  double waited_seconds() const noexcept;

  // The next functions do what those of GradientBuckets do. begin_step() waits for the sums of the
  // previous step for which only streams have waited, and so throws what Request::wait throws.
  void begin_step(std::uint64_t sample_count, std::span<const double> sums = {});
  void send_sums();
  void ready(std::size_t index);
  std::uint64_t world_sample_count();
  std::span<const double> world_sums();

  // Waits until gradient() has the sum over all ranks for every gradient of `bucket`. Throws as
  // GradientBuckets::wait does.
  void wait(std::size_t bucket);
  void wait();  // Waits for every bucket.

  // Lets later work on `stream`, a cudaStream_t of the device, wait for the sums of `bucket`. The
  // host does not wait. If the sum fails, the stream goes on with unspecified values, and the next
  // wait() or begin_step() throws. Throws Error kInvalidArgument if the bucket was not sent, or for
  // a stream that is none of the device; kSystem if CUDA fails.
  void wait_on(std::size_t bucket, const void* stream);

  // Visits the same pieces as GradientBuckets does, so a rank on a device can continue with the
  // state of a rank in host memory. What a codec has lost is copied from the device and back.
  // Throws Error kInvalidArgument as begin_step() does; kSystem if CUDA fails.
  void visit_state(StateVisitor& visitor);

 private:
  Request begin_sum(std::size_t bucket);
  void clear(DeviceSpan<T> gap) const;
  void wait_for_held();
  DeviceSpan<T> values_of(const Slice& slice) const noexcept;
  DeviceSpan<float> feedback_of(const Slice& slice) const noexcept;

  Communicator& communicator_;
  std::uint8_t device_;
  DeviceBlock memory_;
  DeviceBlock feedback_;  // Laid out as memory_; empty if the codec wants no feedback.
  bool has_stream_ = false;
  const void* stream_ = nullptr;
  std::vector<unsigned char> is_held_;  // By bucket: only a stream waits for its sum.
  std::unique_ptr<BucketOrder> order_;  // Destroyed first: it waits for sums under way.
};

extern template class DeviceGradientBuckets<float>;
extern template class DeviceGradientBuckets<double>;
extern template class DeviceGradientBuckets<Float16>;
extern template class DeviceGradientBuckets<Bfloat16>;

}  // namespace rota

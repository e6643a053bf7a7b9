// Gradients laid out in buckets that are summed over all ranks while backward still runs.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <rota/communicator.h>

namespace rota {

struct BucketOptions {
  std::size_t first_bucket_bytes = std::size_t{64} << 10;  // Small, so that the wire starts early.
  std::size_t bucket_bytes = std::size_t{4} << 20;  // Every other one. Each costs a collective.
};

// Where gradients lie in one run of elements.
struct BucketLayout {
  std::vector<Slice> gradients;         // By index. Each starts at a 64-byte boundary.
  std::vector<std::size_t> bucket_of;   // By index.
  std::vector<Slice> buckets;           // In the order they are sent.
  std::vector<std::size_t> population;  // By bucket: how many gradients it holds.
  std::size_t count = 0;                // Elements of the whole run.
};

// Fills buckets in the order in which backward produces gradients, the last one first. A bucket
// takes what fits into its bytes; a gradient that fits into none has a bucket to itself.
// A function of its arguments alone, so that all ranks agree.
BucketLayout lay_out_buckets(std::span<const std::size_t> counts, std::size_t element_bytes,
                             const BucketOptions& options);

// T is float or double. The gradients are views into the buckets: nothing is ever gathered.
template <class T>
class GradientBuckets {
 public:
  // `counts` are the gradients' element counts in forward order, the same on every rank. What is
  // to ride with the last bucket goes in front of them.
  // `communicator` is lent. Throws Error kInvalidArgument for bucket bytes of 0; kNoMemory.
  GradientBuckets(Communicator& communicator, std::span<const std::size_t> counts,
                  const BucketOptions& options = {});
  ~GradientBuckets();  // Waits for what is under way; the deadline of its call ends that.
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  const BucketLayout& layout() const noexcept { return layout_; }
  std::span<T> gradient(std::size_t index) const noexcept;

  // Starts a step: no gradient is ready. Requires that every bucket sent before was waited for.
  void begin_step() noexcept;

  // Gradient `index` is final in this step. Once all those of a bucket are, its sum over all ranks
  // is begun at once, but never before the sum of the bucket in front of it: so ranks agree on the
  // order, whatever the order of calls.
  // Throws Error kInvalidArgument when called twice in a step, and what all_reduce_async throws.
  void ready(std::size_t index);

  // Returns when gradient() holds the sum over all ranks for every gradient of `bucket`; later
  // calls in the same step return at once. Throws Error kInvalidArgument when one of them, or of
  // the buckets in front, is not ready; and what Request::wait throws.
  void wait(std::size_t bucket);
  void wait();  // For every bucket.

 private:
  void send(std::size_t bucket);

  Communicator& communicator_;
  BucketLayout layout_;
  Block memory_;
  std::span<T> values_;
  std::vector<Request> requests_;      // By bucket.
  std::vector<std::size_t> missing_;   // By bucket: gradients that are not ready.
  std::vector<unsigned char> marked_;  // By gradient.
  std::size_t sent_count_ = 0;         // Buckets sent in this step.
};

extern template class GradientBuckets<float>;
extern template class GradientBuckets<double>;

}  // namespace rota

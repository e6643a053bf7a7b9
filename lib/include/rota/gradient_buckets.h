// Lays out gradients in buckets, and sums each bucket over all ranks while the backward pass still
// runs. Works with any model: the model computes its gradients in the buckets, or GradientBuckets
// copies each gradient in and out.
//
//   buckets.begin_step(samples);                   // Samples of this rank; may be 0.
//   … backward; for each gradient that is final:   buckets.ready(index);
//   buckets.wait();                                // Now gradients are sums over all ranks, of
//   …                                              // buckets.world_sample_count() samples.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/codec.h>
#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/float16.h>
#include <rota/reduce_op.h>
#include <rota/step_guard.h>
#include <rota/training_state.h>

namespace rota {

struct BucketOptions {
  std::size_t first_bucket_bytes = std::size_t{64} << 10;  // Small, so that sending starts early.

  // For later buckets. Each costs a collective, and a ring's steps are as many as its ranks. Unset:
  // 4 MiB, or 32 KiB for each rank if that is more.
  std::optional<std::size_t> bucket_bytes{};

  // The codec of buckets of 64 KiB or more; smaller buckets travel uncoded. Unset: the codec of the
  // communicator, if gradients are float32. If set to another codec than kIdentity, gradients must
  // be float32. GradientBuckets keeps the error feedback of a codec for which wants_feedback() is
  // true, in as much memory as the gradients take. Stochastic rounding depends on the step and the
  // bucket, not on other calls of the communicator.
  std::optional<Codec> codec{};

  // kSum or kMean, the same on every rank. With kMean, gradients become means over ranks in place
  // of sums, whatever the numbers of samples. A sum of Float16 is infinite above 65504, but a mean
  // is not: ranks scale their values first (see ReduceOp::kMean).
  ReduceOp op = ReduceOp::kSum;

  // Returns the bytes of later buckets in a world of this size.
  std::size_t bucket_bytes_in(std::size_t world_size) const noexcept {
    return bucket_bytes.value_or(
        std::max(std::size_t{4} << 20, world_size * (std::size_t{32} << 10)));
  }
};

// The position of each gradient in one contiguous range of elements.
struct BucketLayout {
  std::vector<Slice> gradients;         // By index. Each starts at a 64-byte boundary.
  std::vector<std::size_t> bucket_of;   // By index.
  std::vector<Slice> buckets;           // In the order they are sent.
  std::vector<std::size_t> population;  // By bucket: how many gradients it holds.
  std::size_t count = 0;                // Elements of the whole range.
};

// Fills buckets in the order in which backward produces gradients: the last gradient first. A
// bucket holds the gradients that fit into its bytes. A gradient that fits into no bucket gets a
// bucket of its own. `counts` are in forward order. If `options` leave the bytes of later buckets
// unset, `world_size` decides them. The layout depends on the arguments alone, so all ranks agree.
ROTA_EXPORT BucketLayout lay_out_buckets(std::span<const std::size_t> counts,
                                         std::size_t element_bytes, const BucketOptions& options,
                                         std::size_t world_size);

class ROTA_HIDDEN BucketOrder;  // Internal to the library.

// T is float, double, Float16 or Bfloat16. A gradient is either a view into its bucket, which needs
// no copy, or attached. An attached gradient is in the caller's memory, and is copied into its
// bucket and back. No two gradients may overlap in memory: values in both would be summed twice. So
// the gradient of weights that a model uses in several places (tied weights) is one gradient. One
// thread at a time may use this object: the thread that uses the Communicator.
template <class T>
class ROTA_EXPORT GradientBuckets {
 public:
  // `counts` are the element counts of the gradients in forward order, the same on every rank.
  // `communicator` is borrowed, and must outlive this object. Not collective. Throws Error
  // kInvalidArgument for bucket bytes of 0, for a codec if T is not float, and for another op than
  // kSum and kMean; kNoMemory.
  GradientBuckets(Communicator& communicator, std::span<const std::size_t> counts,
                  const BucketOptions& options = {});

  // Works as the first constructor does, and attaches all `gradients`, which stay in the caller's
  // memory. Throws Error kInvalidArgument if two of them overlap; the text has both indices.
  GradientBuckets(Communicator& communicator, const std::vector<std::span<T>>& gradients,
                  const BucketOptions& options = {});

  ~GradientBuckets();  // Waits for sums under way, at most until their deadlines.
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  const BucketLayout& layout() const noexcept;

  // Returns the memory of gradient `index` inside its bucket, in which a model can compute. The
  // caller may write to it from the end of a step until ready(index) in the next step. Requires
  // index < the number of gradients.
  std::span<T> gradient(std::size_t index) const noexcept;

  // Returns all values of `bucket`: its gradients at their places in the layout, and zeros between
  // them. Requires that there is such a bucket.
  std::span<T> bucket_values(std::size_t bucket) const noexcept;

  // From now on, gradient `index` is in the memory `gradient`, which is borrowed. ready() copies
  // the gradient into its bucket, and the wait for that bucket copies the sum back. Must not be
  // called in the middle of a step. Throws Error kInvalidArgument for an index or a count that does
  // not match the layout. The next begin_step() looks whether gradients overlap.
  void attach(std::size_t index, std::span<T> gradient);

  // From now on, steps announce each bucket with error feedback to `guard` before they send it.
  // `guard` is borrowed. If it is null, steps announce nothing.
  void set_guard(StepGuard* guard) noexcept { guard_ = guard; }

  // Returns the bytes copied to and from attached gradients since the start.
  std::uint64_t copied_bytes() const noexcept { return copied_bytes_; }

  // Returns the seconds for which this object has waited for sums since the start.
  double waited_seconds() const noexcept;

  // Starts a step of `sample_count` samples on this rank; no gradient is ready yet. A rank without
  // data takes part with 0 samples and gradients of zeros. `sums` are further numbers to add up
  // over all ranks, such as the loss. They are copied, and every rank must give the same number of
  // them. Sends nothing yet. Allocates only if there are more sums than ever before, and after an
  // attach(). Throws Error kInvalidArgument if two gradients overlap since an attach(); the text
  // has both indices. Also throws it if a sum of the previous step was not waited for, because that
  // sum may still be under way. If the communicator is broken, throws the cause instead. Throws
  // kNoMemory.
  void begin_step(std::uint64_t sample_count, std::span<const double> sums = {});

  // Sends the sample count and the sums, in a small collective before all buckets. Without this
  // call, the first ready() sends them. Over TCP, a call before the backward pass hides the
  // latency. Later calls in the same step do nothing. Throws what all_reduce_async throws.
  void send_sums();

  // Announces that gradient `index` is final in this step. Once all gradients of a bucket are
  // ready, the sum of this bucket over all ranks starts, but never before the sum of the previous
  // bucket. So ranks agree on the order of sums, whatever the order of calls. Throws Error
  // kInvalidArgument if a gradient is announced twice in a step, or for an index that does not
  // exist; also what all_reduce_async throws.
  void ready(std::size_t index);

  // Returns the number of samples of all ranks in this step, exact up to 2^53. 0 means that no rank
  // has data left. Sends this rank's count if it was not sent yet, and waits for the counts of all
  // ranks. Throws what Request::wait throws.
  std::uint64_t world_sample_count();

  // Returns the sums over all ranks of the `sums` that the ranks gave to begin_step(). The result
  // is valid until the next begin_step(). Waits and throws as world_sample_count() does.
  std::span<const double> world_sums();

  // Waits until gradient() holds the sum over all ranks for every gradient of `bucket`. Later calls
  // in the same step return immediately. Throws Error kInvalidArgument if a gradient of this bucket
  // or of an earlier bucket is not ready, or if there is no such bucket; also what Request::wait
  // throws.
  void wait(std::size_t bucket);
  void wait();  // Waits for every bucket.

  // Visits the codec, the count of steps, and what this rank has lost of each gradient by coding.
  // Throws Error kInvalidArgument as begin_step() does.
  void visit_state(StateVisitor& visitor);

 private:
  void require_apart();
  Request begin_sum(std::size_t bucket);
  void copy_back(std::size_t bucket) noexcept;

  Communicator& communicator_;
  Block memory_;
  std::span<T> values_;
  StepGuard* guard_ = nullptr;
  std::vector<float> feedback_;  // Laid out as values_; empty if the codec wants no feedback.
  std::vector<std::span<T>> attached_;  // By gradient; empty: the gradient is in its bucket.
  bool may_overlap_ = false;            // Since an attach().
  std::uint64_t copied_bytes_ = 0;
  std::unique_ptr<BucketOrder> order_;  // Destroyed first: it waits for sums under way.
};

extern template class GradientBuckets<float>;
extern template class GradientBuckets<double>;
extern template class GradientBuckets<Float16>;
extern template class GradientBuckets<Bfloat16>;

// Gives every rank the `parameters` of rank `root`, so that all models start equal. Collective:
// every rank must call it. Ranks first compare counts and types. If counts or types differ, throws
// Error kMismatch on every rank; the text shows both sides. Throws kInvalidArgument for a root
// outside of the world, and what collectives throw.
ROTA_EXPORT void broadcast_parameters(Communicator& communicator,
                                      const std::vector<Values>& parameters, std::size_t root = 0);

}  // namespace rota

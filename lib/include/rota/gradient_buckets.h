// Gradients laid out in buckets that are summed over all ranks while backward still runs. For any
// model, ours or not: it asks for memory, or for a copy each way.
//
//   buckets.begin_step(samples);                   // How many this rank has; 0 will do.
//   … backward, and as each gradient is final:     buckets.ready(index);
//   buckets.wait();                                // They are sums over all ranks' samples now,
//   … of which there are buckets.world_sample_count().
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/codec.h>
#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/training_state.h>

namespace rota {

struct BucketOptions {
  std::size_t first_bucket_bytes = std::size_t{64} << 10;  // Small, so that the wire starts early.
  std::size_t bucket_bytes = std::size_t{4} << 20;  // Every other one. Each costs a collective.

  // How buckets of 64 KiB or more travel; smaller ones travel as they are. Unset: the
  // communicator's. Gradients are float32 where it is not kIdentity.
  // Where it wants feedback, that is kept here, and takes as much memory as the gradients.
  std::optional<Codec> codec{};
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
ROTA_EXPORT BucketLayout lay_out_buckets(std::span<const std::size_t> counts,
                                         std::size_t element_bytes, const BucketOptions& options);

// T is float or double. A gradient is a view into its bucket, so that nothing is ever gathered; or
// lies in memory of the caller's, and is copied into its bucket and back.
// One thread at a time may use it: the one that uses the Communicator.
template <class T>
class ROTA_EXPORT GradientBuckets {
 public:
  // `counts` are the gradients' element counts in forward order, the same on every rank.
  // `communicator` is lent, and must outlive this. Not collective. Throws Error kInvalidArgument
  // for bucket bytes of 0, and for a codec of double; kNoMemory.
  GradientBuckets(Communicator& communicator, std::span<const std::size_t> counts,
                  const BucketOptions& options = {});

  // The same for gradients that stay where they are: attaches all of them.
  GradientBuckets(Communicator& communicator, const std::vector<std::span<T>>& gradients,
                  const BucketOptions& options = {});

  ~GradientBuckets();  // Waits for what is under way; the deadline of its call ends that.
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  const BucketLayout& layout() const noexcept { return layout_; }

  // Memory of gradient `index`, inside its bucket: for a model to work in. It may be written from
  // the end of a step until the gradient is ready in the next. Requires index < the gradients'.
  std::span<T> gradient(std::size_t index) const noexcept;

  // From now on gradient `index` lies in `gradient`, which is lent: ready() copies it into its
  // bucket, and the wait for its bucket copies the sum back. Not in the middle of a step.
  // Throws Error kInvalidArgument for an index or a count that is not that of the layout.
  void attach(std::size_t index, std::span<T> gradient);

  // Bytes copied to and from attached gradients since the start.
  std::uint64_t copied_bytes() const noexcept { return copied_bytes_; }

  // Starts a step of `sample_count` samples on this rank: no gradient is ready. A rank that has run
  // out of data takes part with 0 samples and gradients of zeros. `sums` are further numbers to be
  // added up over all ranks, such as the loss: as many on every rank, and copied. Sends nothing
  // yet, and allocates only where there are more sums than ever before.
  // Throws Error kInvalidArgument where what was sent in the step before was not waited for: it may
  // still travel; and what broke the communicator, if that is why. kNoMemory.
  void begin_step(std::uint64_t sample_count, std::span<const double> sums = {});

  // Sends the count and the sums, in a small collective of their own, in front of all buckets. The
  // first ready() does so too. To call this before the backward pass hides what it takes over TCP.
  // Later calls in the same step do nothing. Throws what all_reduce_async throws.
  void send_sums();

  // Gradient `index` is final in this step. Once all those of a bucket are, its sum over all ranks
  // is begun at once, but never before the sum of the bucket in front of it: so ranks agree on the
  // order, whatever the order of calls.
  // Throws Error kInvalidArgument when called twice in a step, or for an index that does not exist;
  // and what all_reduce_async throws.
  void ready(std::size_t index);

  // The samples of all ranks in this step, exact up to 2^53. 0 means that no rank has any data
  // left. Returns when all ranks have sent theirs, as this does where nothing was sent yet.
  // Throws what Request::wait throws.
  std::uint64_t world_sample_count();

  // The sums over all ranks of what they gave to begin_step, which has them until it is called
  // again. Otherwise as world_sample_count.
  std::span<const double> world_sums();

  // Returns when gradient() holds the sum over all ranks for every gradient of `bucket`; later
  // calls in the same step return at once. Throws Error kInvalidArgument when one of them, or of
  // the buckets in front, is not ready; and what Request::wait throws.
  void wait(std::size_t bucket);
  void wait();  // For every bucket.

  // The codec, and what it has lost on this rank, by bucket. Throws Error kInvalidArgument as
  // begin_step.
  void visit_state(StateVisitor& visitor);

 private:
  Codec codec_of(std::size_t bucket) const noexcept;
  Request begin_sum(std::size_t bucket);
  std::size_t gradient_count() const noexcept { return attached_.size(); }
  void check_index(std::size_t index) const;
  void require_all_collected();
  void refuse_uncollected(const std::string& what, Request& request);
  void collect_sums();
  void send_filled();
  void copy_back(std::size_t bucket) noexcept;

  Communicator& communicator_;
  BucketLayout layout_;
  Block memory_;
  std::span<T> values_;
  Codec codec_;
  std::vector<float> feedback_;           // As the values; empty where the codec wants none.
  std::vector<std::span<T>> attached_;    // By gradient; null: it lies in its bucket.
  std::vector<Request> requests_;         // By bucket.
  std::vector<std::size_t> missing_;      // By bucket: gradients that are not ready.
  std::vector<unsigned char> marked_;     // By gradient: it is ready.
  std::vector<unsigned char> collected_;  // By bucket: its sum is where it belongs.
  std::size_t sent_count_ = 0;            // Buckets sent in this step.
  Block sums_memory_;                     // Of the host, whatever the gradients lie in.
  std::span<double> sums_;                // The count of samples, and then what was given with it.
  Request sums_request_;
  bool sums_sent_ = false;
  bool sums_collected_ = false;
  std::uint64_t copied_bytes_ = 0;
};

extern template class GradientBuckets<float>;
extern template class GradientBuckets<double>;

// Every rank ends with rank `root`'s `parameters`: what a model has to start from. Ranks compare
// their counts and types first. Collective. Throws Error kMismatch, on every rank, where they
// differ: the text shows both sides; kInvalidArgument for a root outside of the world; and what
// collectives throw.
ROTA_EXPORT void broadcast_parameters(Communicator& communicator,
                                      const std::vector<Values>& parameters, std::size_t root = 0);

}  // namespace rota

// Knows which gradients of a step are ready, which buckets have gone, and whose sums have arrived.
// Buckets in host memory and buckets on a device have this in common, so ranks with either are one
// world.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/gradient_buckets.h>

#include "os/origin.h"

namespace rota {

// One thread at a time may use this object. In the child of a fork, every function that can throw
// throws Error kInvalidArgument.
class BucketOrder {
 public:
  // The arguments are those of GradientBuckets, and so are the Errors.
  BucketOrder(Communicator& communicator, std::span<const std::size_t> counts,
              std::size_t element_bytes, const BucketOptions& options);
  ~BucketOrder();  // Waits for sums under way, at most until their deadlines.
  BucketOrder(const BucketOrder&) = delete;
  BucketOrder& operator=(const BucketOrder&) = delete;

  const BucketLayout& layout() const noexcept { return layout_; }
  std::size_t bucket_count() const noexcept { return layout_.buckets.size(); }
  double waited_seconds() const noexcept { return waited_seconds_; }

  // Throws Error kInvalidArgument if there is no such gradient.
  void check_index(std::size_t index) const;

  // Returns the codec of a bucket's sum; whether that sum needs a feedback; and whether any does.
  Codec codec_of(std::size_t bucket) const noexcept;
  bool feeds_back(std::size_t bucket) const noexcept { return wants_feedback(codec_of(bucket)); }
  bool feeds_back() const noexcept;
  // Returns the ranges between the gradients of a bucket with feedback, and none for other buckets.
  // They must have zeros whenever the bucket is sent. If a value of the last step was infinite or
  // NaN, its codec has made all values of a block NaN, and those between gradients too.
  const std::vector<Slice>& gaps_of(std::size_t bucket) const noexcept { return gaps_[bucket]; }
  // Returns how the bucket's values are added up in this step.
  Reduction sum_of(std::size_t bucket) const noexcept;

  // The next functions do what those of GradientBuckets with these names do.
  void begin_step(std::uint64_t sample_count, std::span<const double> sums);
  void send_sums();
  std::uint64_t world_sample_count();
  std::span<const double> world_sums();
  void require_all_collected();
  // Visits what does not depend on where gradients are: the codec and the count of steps.
  void visit_state(StateVisitor& visitor);

  // Returns the gradients with a feedback, those that are sent first in front.
  std::vector<std::size_t> gradients_fed_back() const;
  // Returns the piece of a state that has what the codec has lost of a gradient on this rank. The
  // name says nothing about buckets, so a run with other buckets finds the piece.
  StatePiece lost_of(std::size_t index) const;

  // Marks a gradient ready. Sends the sums of the step first. The caller then begins the sum of
  // each bucket that next_full() returns, and says so with on_sent().
  void mark_ready(std::size_t index);
  std::optional<std::size_t> next_full() const noexcept;
  void on_sent(Request request) { requests_[sent_count_++] = std::move(request); }

  // Throws Error kInvalidArgument if the bucket was not sent in this step.
  void check_sent(std::size_t bucket) const;
  bool is_collected(std::size_t bucket) const noexcept { return collected_[bucket] != 0; }
  // Returns the request of a bucket that was sent and not collected.
  Request& request_of(std::size_t bucket) noexcept { return requests_[bucket]; }
  // Waits for the sums of the step, and then for a bucket that was sent.
  void collect(std::size_t bucket);

 private:
  std::vector<std::vector<Slice>> find_gaps() const;
  std::string missing_of(std::size_t bucket) const;
  void collect_sums();
  void wait_for(Request& request);
  void refuse_uncollected(const std::string& what, Request& request);
  void require_here() const { origin_.require_here("this set of gradient buckets"); }

  Communicator& communicator_;
  os::Origin origin_;
  BucketLayout layout_;
  std::size_t element_bytes_;
  Codec codec_;
  ReduceOp op_;
  std::vector<std::vector<Slice>> gaps_;  // By bucket.
  std::vector<Request> requests_;         // By bucket.
  std::vector<std::size_t> missing_;      // By bucket: number of gradients not ready.
  std::vector<unsigned char> marked_;     // By gradient: whether it is ready.
  std::vector<unsigned char> collected_;  // By bucket: whether its sum is in place.
  std::size_t sent_count_ = 0;            // Buckets sent in this step.
  std::uint64_t step_ = 0;                // Steps begun, for random draws.
  Block sums_memory_;                     // Always in host memory.
  std::span<double> sums_;                // The sample count, then the sums of begin_step().
  Request sums_request_;
  bool sums_sent_ = false;
  bool sums_collected_ = false;
  double waited_seconds_ = 0;
};

}  // namespace rota

// Checks the order in which a program announces gradients and waits for sums.
#include "training/bucket_order.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <rota/error.h>

#include "base/time.h"

namespace rota {
namespace {

// As many doubles as fit into the post, in which a rank announces a collective in shared memory.
// Room for more is allocated if needed.
constexpr std::size_t kUsualSums = 6;

// The random numbers for a bucket depend on one number: the step, shifted by so many bits, plus the
// bucket.
constexpr int kBucketBits = 20;

BucketLayout checked_layout(std::span<const std::size_t> counts, std::size_t element_bytes,
                            const BucketOptions& options, std::size_t world_size) {
  if (options.first_bucket_bytes == 0 || options.bucket_bytes_in(world_size) == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a bucket of gradients needs room for at least one byte");
  }
  if (options.op != ReduceOp::kSum && options.op != ReduceOp::kMean) {
    throw Error(ErrorCode::kInvalidArgument,
                "gradients become sums or means over ranks: BucketOptions::op cannot be " +
                    std::string(to_string(options.op)));
  }
  if (options.codec.value_or(Codec::kIdentity) != Codec::kIdentity &&
      element_bytes != sizeof(float)) {
    throw Error(ErrorCode::kInvalidArgument, "codecs are for gradients of float32");
  }
  return lay_out_buckets(counts, element_bytes, options, world_size);
}

}  // namespace

BucketOrder::BucketOrder(Communicator& communicator, std::span<const std::size_t> counts,
                         std::size_t element_bytes, const BucketOptions& options)
    : communicator_(communicator),
      layout_(checked_layout(counts, element_bytes, options, communicator.world_size())),
      element_bytes_(element_bytes),
      codec_(options.codec.value_or(communicator.codec())),
      op_(options.op),
      gaps_(find_gaps()),
      requests_(layout_.buckets.size()),
      missing_(layout_.population),
      marked_(counts.size()),
      collected_(layout_.buckets.size()),
      sums_memory_(communicator.allocate(kUsualSums * sizeof(double))) {}

BucketOrder::~BucketOrder() {
  const auto wait_out = [](Request& request) {
    try {
      request.wait();
    } catch (const Error&) {
      // Ignored here: the next call throws the same error.
    }
  };
  wait_out(sums_request_);
  for (Request& request : requests_) wait_out(request);
}

void BucketOrder::check_index(std::size_t index) const {
  require_here();
  if (index < marked_.size()) return;
  throw Error(ErrorCode::kInvalidArgument, "there is no gradient " + std::to_string(index) +
                                               ": there are " + std::to_string(marked_.size()) +
                                               " gradients, numbered from 0");
}

Codec BucketOrder::codec_of(std::size_t bucket) const noexcept {
  const bool is_worth_it = layout_.buckets[bucket].count * element_bytes_ >= kLeastCodedBytes;
  const bool is_coded = is_worth_it && element_bytes_ == sizeof(float);
  return is_coded ? codec_ : Codec::kIdentity;
}

bool BucketOrder::feeds_back() const noexcept {
  for (std::size_t bucket = 0; bucket < bucket_count(); ++bucket) {
    if (feeds_back(bucket)) return true;
  }
  return false;
}

std::vector<std::vector<Slice>> BucketOrder::find_gaps() const {
  std::vector<std::vector<Slice>> gaps(bucket_count());
  std::vector<std::size_t> ends(bucket_count());  // Of the gradients so far.
  for (std::size_t index = layout_.gradients.size(); index-- > 0;) {
    const Slice& gradient = layout_.gradients[index];
    const std::size_t bucket = layout_.bucket_of[index];
    if (!feeds_back(bucket)) continue;
    const std::size_t end = std::max(ends[bucket], layout_.buckets[bucket].offset);
    if (end < gradient.offset) gaps[bucket].push_back({end, gradient.offset - end});
    ends[bucket] = gradient.offset + gradient.count;
  }
  return gaps;
}

Reduction BucketOrder::sum_of(std::size_t bucket) const noexcept {
  return Reduction(op_).by(codec_of(bucket)).drawn_by(step_ << kBucketBits | bucket);
}

// Throws Error kInvalidArgument or, if the communicator is broken, the cause.
void BucketOrder::refuse_uncollected(const std::string& what, Request& request) {
  request.wait_for(std::chrono::nanoseconds(0));
  throw Error(ErrorCode::kInvalidArgument,
              what +
                  " was sent in the step before, and nobody has waited for it: call wait() "
                  "before begin_step()");
}

void BucketOrder::require_all_collected() {
  require_here();
  for (std::size_t bucket = 0; bucket < sent_count_; ++bucket) {
    if (is_collected(bucket)) continue;
    refuse_uncollected("bucket " + std::to_string(bucket), requests_[bucket]);
  }
  if (sums_sent_ && !sums_collected_) refuse_uncollected("the count of samples", sums_request_);
}

void BucketOrder::begin_step(std::uint64_t sample_count, std::span<const double> sums) {
  require_all_collected();
  const std::size_t bytes = (1 + sums.size()) * sizeof(double);
  if (bytes > sums_memory_.bytes().size()) sums_memory_ = communicator_.allocate(bytes);
  sums_ = {reinterpret_cast<double*>(sums_memory_.bytes().data()), 1 + sums.size()};
  sums_.front() = static_cast<double>(sample_count);
  std::copy(sums.begin(), sums.end(), sums_.begin() + 1);
  sums_sent_ = false;
  sums_collected_ = false;
  missing_ = layout_.population;  // Same size, so nothing is allocated.
  std::fill(marked_.begin(), marked_.end(), static_cast<unsigned char>(0));
  std::fill(collected_.begin(), collected_.end(), static_cast<unsigned char>(0));
  sent_count_ = 0;
  ++step_;
}

// Sends the sample count and the other sums of begin_step() before all buckets, so that the count
// has arrived before the first bucket is scaled.
void BucketOrder::send_sums() {
  require_here();
  if (sums_sent_ || sums_.empty()) return;
  sums_sent_ = true;
  sums_request_ = communicator_.all_reduce_async(sums_, ReduceOp::kSum);
}

void BucketOrder::collect_sums() {
  send_sums();
  if (sums_collected_) return;
  wait_for(sums_request_);
  sums_collected_ = true;
}

void BucketOrder::wait_for(Request& request) {
  const base::TimePoint begin = base::Clock::now();
  request.wait();
  request = Request();
  waited_seconds_ += base::to_seconds(base::Clock::now() - begin);
}

std::uint64_t BucketOrder::world_sample_count() {
  collect_sums();
  return sums_.empty() ? 0 : static_cast<std::uint64_t>(sums_.front());
}

std::span<const double> BucketOrder::world_sums() {
  collect_sums();
  return sums_.empty() ? sums_ : sums_.subspan(1);
}

void BucketOrder::mark_ready(std::size_t index) {
  check_index(index);
  if (marked_[index] != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "gradient " + std::to_string(index) + " was marked ready twice in one step");
  }
  send_sums();
  marked_[index] = 1;
  --missing_[layout_.bucket_of[index]];
}

std::optional<std::size_t> BucketOrder::next_full() const noexcept {
  const bool is_full = sent_count_ < missing_.size() && missing_[sent_count_] == 0;
  return is_full ? std::optional(sent_count_) : std::nullopt;
}

// Returns the gradients of the bucket that are not ready, such as "gradients 2, 3, 5 of bucket 1
// were".
std::string BucketOrder::missing_of(std::size_t bucket) const {
  constexpr std::size_t kMostNamed = 16;
  std::string names;
  std::size_t count = 0;
  for (std::size_t index = 0; index < marked_.size(); ++index) {
    if (marked_[index] != 0 || layout_.bucket_of[index] != bucket) continue;
    if (++count <= kMostNamed) names += (names.empty() ? "" : ", ") + std::to_string(index);
  }
  if (count > kMostNamed) names += " and " + std::to_string(count - kMostNamed) + " more";
  const bool is_one = count == 1;
  return (is_one ? "gradient " : "gradients ") + names + " of bucket " + std::to_string(bucket) +
         (is_one ? " was" : " were");
}

void BucketOrder::check_sent(std::size_t bucket) const {
  require_here();
  if (bucket >= bucket_count()) {
    throw Error(ErrorCode::kInvalidArgument, "there is no bucket " + std::to_string(bucket) +
                                                 ": there are " + std::to_string(bucket_count()) +
                                                 " buckets, numbered from 0");
  }
  if (bucket < sent_count_) return;
  throw Error(ErrorCode::kInvalidArgument,
              "bucket " + std::to_string(bucket) + " was not sent: " + missing_of(sent_count_) +
                  " not marked ready: call ready() for each gradient in each step");
}

// The sample count and the other sums of begin_step() are sent before all buckets.
void BucketOrder::collect(std::size_t bucket) {
  collect_sums();
  wait_for(requests_[bucket]);
  collected_[bucket] = 1;
}

void BucketOrder::visit_state(StateVisitor& visitor) {
  require_all_collected();
  visitor.visit_fact({.name = "codec", .fit = StateFit::kLoose}, std::string(to_string(codec_)));
  visitor.visit_counter({.name = "codec/step"}, step_);
}

std::vector<std::size_t> BucketOrder::gradients_fed_back() const {
  std::vector<std::size_t> indices;
  for (std::size_t index = layout_.bucket_of.size(); index-- > 0;) {
    if (feeds_back(layout_.bucket_of[index])) indices.push_back(index);
  }
  return indices;
}

StatePiece BucketOrder::lost_of(std::size_t index) const {
  return {.name = "codec/gradient " + std::to_string(index) + "/lost",
          .owner = StateOwner::kRank,
          .fit = StateFit::kSummed,
          .index = layout_.bucket_of[index]};
}

}  // namespace rota

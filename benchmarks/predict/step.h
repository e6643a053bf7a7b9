// Predicts training steps: what a rank computes, the all-reduces of its buckets meanwhile, and how
// long it waits for them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <rota/gradient_buckets.h>

#include "predict/call_runner.h"
#include "predict/workload.h"

namespace rota::bench {

// With jitter, each rank is simulated. So the world must not have more ranks.
inline constexpr std::size_t kMostRanksWithJitter = 512;

struct StepOptions {
  std::optional<collectives::Algorithm> plan{};  // Empty: the one that rota chooses.
  Codec codec = Codec::kIdentity;                // Of buckets of kLeastCodedBytes or more.
  BucketOptions buckets{};                       // Its codec is not used.
  std::size_t cores = 0;                         // Of a host; 0: enough for all threads.
  // The computation of a rank in a step takes longer by a random fraction, with this mean.
  double jitter = 0;
  std::uint64_t seed = 1;
  std::size_t steps = 20;  // With jitter. Without, steps are simulated until they are equal.
  Fold fold = Fold::kIfAlike;
};

// A bucket in the last step. The times are those of rank 0, from the beginning of the step.
struct PredictedBucket {
  Call call{};
  double ready_seconds = 0;
  double end_seconds = 0;
  friend bool operator==(const PredictedBucket&, const PredictedBucket&) = default;
};

struct StepPrediction {
  std::size_t world_size = 0;
  double alone_seconds = 0;          // A step of one rank alone.
  double step_seconds = 0;           // A step of the world.
  double computing_seconds = 0;      // The mean of the ranks, in a step.
  double waiting_seconds = 0;        // The same.
  double communication_seconds = 0;  // All sums of a step, without computation.
  std::vector<PredictedBucket> buckets{};
  friend bool operator==(const StepPrediction&, const StepPrediction&) = default;
};

inline double efficiency_of(const StepPrediction& prediction) {
  return prediction.alone_seconds / prediction.step_seconds;
}

// Returns the buckets of the workload's gradients in this world.
BucketLayout layout_of(const WorldModel& model, const Workload& workload,
                       const BucketOptions& options);

// Returns the call that rota makes for an all-reduce of `count` elements. Throws
// std::invalid_argument for a plan that cannot run it in this world.
Call call_of(const WorldModel& model, std::size_t count, const StepOptions& options);

// Returns the all-reduces of a step: first the one of the number of samples and the score, then
// one for each bucket, in the order of `layout`. Throws std::invalid_argument for a plan that
// cannot run them in this world.
std::vector<Call> calls_of(const WorldModel& model, const BucketLayout& layout,
                           const StepOptions& options);

// Predicts the step of a world in which each rank computes `workload` (weak scaling). Throws
// std::invalid_argument as calls_of() does. Also throws it for 0 steps, and for a jitter that is
// negative, not finite, for more ranks than kMostRanksWithJitter or for ranks that must be folded.
StepPrediction predict_step(const WorldModel& model, const Workload& workload,
                            const StepOptions& options);

}  // namespace rota::bench

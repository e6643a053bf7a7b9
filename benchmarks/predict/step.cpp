// Simulates training steps one after another, and lets the sums of a step begin as the backward
// pass makes buckets ready. Sums follow each other: two plans that use the same lanes do not
// overlap.
#include "predict/step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/number_text.h"
#include "collectives/choice.h"
#include "communicator/topology.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using collectives::Collective;

constexpr std::size_t kSumsBytes = 3 * sizeof(double);  // Samples, loss, correct answers.
constexpr std::size_t kMostSteps = 64;  // Bursts that last longer are not simulated to their end.
constexpr double kMostJitter = 1000;
constexpr double kEqual = 1e-9;  // Steps whose times differ by this fraction are equal.

void require_steps(const WorldModel& model, const StepOptions& options) {
  const double jitter = options.jitter;
  if (options.steps == 0) throw std::invalid_argument("0 steps cannot be predicted");
  if (!(jitter >= 0 && jitter <= kMostJitter)) {
    throw std::invalid_argument("a jitter of " + base::shortest_text(jitter) +
                                " is not possible: it is a number from 0 to 1000");
  }
  if (jitter > 0 && options.fold == Fold::kAlways) {
    throw std::invalid_argument("jitter makes ranks differ, so they cannot be folded");
  }
  if (jitter == 0 || model.hosts.size() <= kMostRanksWithJitter) return;
  throw std::invalid_argument(
      "jitter makes ranks differ, so that each of them must be simulated: a world with jitter has "
      "at most " +
      std::to_string(kMostRanksWithJitter) + " ranks, and this one has " +
      std::to_string(model.hosts.size()));
}

void require_all_reduce(const WorldModel& model, Algorithm plan) {
  const std::string name(to_string(plan));
  if (plan == Algorithm::kShared && !model.shares_memory) {
    throw std::invalid_argument("the plan shared-memory needs ranks that all share memory");
  }
  const bool is_known = plan == Algorithm::kShared || collectives::has_plans(plan);
  if (is_known && collectives::makes(plan, Collective::kAllReduce)) return;
  throw std::invalid_argument("the plan " + name + " cannot be predicted: " +
                              (is_known ? "it has no all-reduce" : "another library runs it"));
}

// Does not look at the first call: it is not of a bucket.
void require_alike_buckets(const WorldModel& model, const Workload& workload,
                           const StepOptions& options) {
  const std::vector<Call> calls =
      calls_of(model, layout_of(model, workload, options.buckets), options);
  for (const Call& call : std::span(calls).subspan(1)) require_alike(model, call);
}

// Returns, for each bucket, the seconds of the backward pass until all of its gradients are final.
std::vector<double> ready_seconds_of(const Workload& workload, const BucketLayout& layout) {
  std::vector<double> ready(layout.buckets.size());
  double passed = 0;
  for (std::size_t gradient = workload.gradients.size(); gradient-- > 0;) {
    passed += workload.gradients[gradient].seconds;
    ready[layout.bucket_of[gradient]] = passed;
  }
  // A bucket does not go before an earlier one.
  std::inclusive_scan(ready.begin(), ready.end(), ready.begin(),
                      [](double a, double b) { return std::max(a, b); });
  return ready;
}

// Returns a number from (0, 1] that depends on the arguments alone (SplitMix64).
double uniform(std::uint64_t seed, std::uint64_t step, std::uint64_t rank) {
  std::uint64_t bits = seed;
  for (const std::uint64_t word : {step, rank}) {
    bits += 0x9e3779b97f4a7c15 * (word + 1);
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
  }
  constexpr int kDigits = std::numeric_limits<double>::digits;
  return std::ldexp(static_cast<double>((bits >> (64 - kDigits)) + 1), -kDigits);
}

class Training {
 public:
  Training(const WorldModel& model, const Workload& workload, const StepOptions& options)
      : model_(model),
        workload_(workload),
        options_(options),
        layout_(layout_of(model, workload, options.buckets)),
        ready_(ready_seconds_of(workload, layout_)),
        sums_(calls_of(model, layout_, options)),
        calls_(model, options.jitter > 0 ? Fold::kNever : options.fold),
        clock_(model),
        trained_(model.hosts.size()) {
    const auto ranks_of_host =
        static_cast<double>(model.hosts.size()) / static_cast<double>(host_count_of(model.hosts));
    if (options.cores > 0) load_ = ranks_of_host / static_cast<double>(options.cores);
  }

  StepPrediction run() {
    if (options_.jitter > 0) {
      for (std::size_t step = 0; step < options_.steps; ++step) run_step(step);
      prediction_.step_seconds = std::ranges::max(trained_) / static_cast<double>(options_.steps);
    } else {
      run_until_equal();
    }
    prediction_.world_size = model_.hosts.size();
    prediction_.alone_seconds = alone_seconds_of(workload_);
    const auto samples = static_cast<double>(steps_ * trained_.size());
    prediction_.computing_seconds /= samples;
    prediction_.waiting_seconds /= samples;
    prediction_.communication_seconds = communication_alone();
    return prediction_;
  }

 private:
  // Simulates steps until they are equal, and no burst makes them faster than the cables' rates.
  void run_until_equal() {
    double growth = 0;
    for (std::size_t step = 0; step < kMostSteps; ++step) {
      forget();
      const double begin = std::ranges::max(trained_);
      const double owed = owed_seconds();
      run_step(step);
      const double before =
          std::exchange(prediction_.step_seconds, std::ranges::max(trained_) - begin);
      growth = std::max(0.0, owed_seconds() - owed);
      const double equal = kEqual * before;
      if (std::abs(prediction_.step_seconds - before) <= equal && growth <= equal) return;
    }
    // When the burst is used up, a step takes as long as the rate needs for its bytes.
    prediction_.step_seconds += growth;
    prediction_.waiting_seconds += growth * static_cast<double>(trained_.size());
  }

  // Returns the most seconds after the last step in which a cable makes up for its burst.
  double owed_seconds() const {
    double paid = std::ranges::max(trained_);
    for (const auto* cables : {&clock_.leaving, &clock_.arriving}) {
      for (const Cable& cable : *cables) paid = std::max(paid, cable.free());
    }
    return paid - std::ranges::max(trained_);
  }

  // Starts the sums of the results anew. The clocks go on, from the first rank's time 0.
  void forget() {
    const double origin = std::ranges::min(trained_);
    clock_.move_origin(origin);
    for (double& trained : trained_) trained -= origin;
    prediction_.computing_seconds = 0;
    prediction_.waiting_seconds = 0;
    steps_ = 0;
  }

  void run_step(std::size_t step) {
    ++steps_;
    const std::vector<double> began = trained_;
    const std::vector<double> worked = clock_.worked;
    std::vector<double> stretch(trained_.size(), std::max(1.0, load_));
    for (std::size_t rank = 0; rank < stretch.size() && options_.jitter > 0; ++rank) {
      stretch[rank] *= 1 - options_.jitter * std::log(uniform(options_.seed, step, rank));
    }
    for (std::size_t rank = 0; rank < trained_.size(); ++rank) {
      trained_[rank] += stretch[rank] * (workload_.forward_seconds + ready_.back());
    }
    prediction_.buckets.clear();
    for (std::size_t i = 0; i < sums_.size(); ++i) sum(i, began, stretch);
    for (std::size_t rank = 0; rank < trained_.size(); ++rank) {
      const double computing = stretch[rank] * alone_seconds_of(workload_);
      // Calls and computation share the cores.
      const double work = alone_seconds_of(workload_) + clock_.worked[rank] - worked[rank];
      trained_[rank] = std::max(trained_[rank], began[rank] + load_ * work);
      prediction_.computing_seconds += computing;
      prediction_.waiting_seconds += std::max(0.0, trained_[rank] - began[rank] - computing);
    }
  }

  // Runs the sum with this index, and then the update of its bucket.
  void sum(std::size_t index, const std::vector<double>& began,
           const std::vector<double>& stretch) {
    const bool is_bucket = index > 0;
    const double ready = workload_.forward_seconds + (is_bucket ? ready_[index - 1] : 0);
    for (std::size_t rank = 0; rank < began.size(); ++rank) {
      clock_.ranks[rank] = std::max(clock_.ranks[rank], began[rank] + stretch[rank] * ready);
    }
    calls_.run(sums_[index], clock_);
    const double share = is_bucket ? share_of(index - 1) : 0;
    for (std::size_t rank = 0; rank < began.size(); ++rank) {
      trained_[rank] = std::max(trained_[rank], clock_.ranks[rank]) +
                       stretch[rank] * workload_.update_seconds * share;
    }
    if (!is_bucket) return;
    prediction_.buckets.push_back({.call = sums_[index],
                                   .ready_seconds = stretch[0] * ready,
                                   .end_seconds = clock_.ranks[0] - began[0]});
  }

  // Returns the share of a bucket in all values.
  double share_of(std::size_t bucket) const {
    return static_cast<double>(layout_.buckets[bucket].count) / static_cast<double>(layout_.count);
  }

  double communication_alone() {
    Clock clock(model_);
    for (const Call& call : sums_) calls_.run(call, clock);
    return std::ranges::max(clock.ranks);
  }

  const WorldModel& model_;
  const Workload& workload_;
  const StepOptions& options_;
  BucketLayout layout_;
  std::vector<double> ready_;  // Index = bucket: since the beginning of the backward pass.
  std::vector<Call> sums_;     // The first one is not of a bucket.
  CallRunner calls_;
  Clock clock_;
  std::vector<double> trained_;  // Index = rank: the end of its computation so far.
  double load_ = 0;              // Ranks for each core of a host; 0: there are enough cores.
  std::size_t steps_ = 0;
  StepPrediction prediction_;
};

}  // namespace

Call call_of(const WorldModel& model, std::size_t count, const StepOptions& options) {
  if (options.plan) require_all_reduce(model, *options.plan);
  const std::size_t bytes = count * sizeof(float);
  if (options.codec != Codec::kIdentity && bytes >= kLeastCodedBytes) {
    return {.algorithm = Algorithm::kRing, .count = count, .codec = options.codec};
  }
  if (options.plan) return {.algorithm = *options.plan, .count = count};
  const auto choice = collectives::choose({.type = DataType::kByte, .count = bytes},
                                          {.world_size = model.hosts.size(),
                                           .shares_memory = model.shares_memory,
                                           .host_count = host_count_of(model.hosts)});
  return {.algorithm = choice.algorithm, .count = count};
}

BucketLayout layout_of(const WorldModel& model, const Workload& workload,
                       const BucketOptions& options) {
  std::vector<std::size_t> counts;
  for (const Workload::Gradient& gradient : workload.gradients) counts.push_back(gradient.count);
  return lay_out_buckets(counts, sizeof(float), options, model.hosts.size());
}

std::vector<Call> calls_of(const WorldModel& model, const BucketLayout& layout,
                           const StepOptions& options) {
  std::vector<Call> calls{call_of(model, kSumsBytes / sizeof(float), options)};
  for (const Slice& bucket : layout.buckets) {
    calls.push_back(call_of(model, bucket.count, options));
  }
  return calls;
}

StepPrediction predict_step(const WorldModel& model, const Workload& workload,
                            const StepOptions& options) {
  require_steps(model, options);
  if (options.fold == Fold::kAlways) require_alike_buckets(model, workload, options);
  return Training(model, workload, options).run();
}

}  // namespace rota::bench

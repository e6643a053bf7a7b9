// Compares the clocks of two calls from the time at which the first rank begins.
#include "predict/call_runner.h"

#include <algorithm>
#include <vector>

namespace rota::bench {
namespace {

// Bounds of the memory for what is remembered.
constexpr std::size_t kMostClocks = 128;
constexpr std::size_t kMostPlannedSteps = 4 << 20;

std::size_t steps_of(const PlannedCall& planned) {
  std::size_t count = 0;
  for (const collectives::Plan& plan : planned.plans) count += plan.steps.size();
  return count;
}

}  // namespace

void CallRunner::run(const Call& call, Clock& clock) {
  const std::size_t period = fold_ == Fold::kNever ? clock.ranks.size() : period_of(model_, call);
  const std::vector<double> worked = clock.worked;
  std::ranges::fill(clock.worked, 0.0);  // The work so far changes nothing.
  if (period == clock.ranks.size()) {
    repeat_or_simulate(call, clock);
  } else {
    Clock few = folded(clock, period);
    repeat_or_simulate(call, few);
    unfold(few, clock);
  }
  for (std::size_t rank = 0; rank < worked.size(); ++rank) clock.worked[rank] += worked[rank];
}

void CallRunner::repeat_or_simulate(const Call& call, Clock& clock) {
  const double origin = std::ranges::min(clock.ranks);
  clock.move_origin(origin);
  const auto known = ended_.find({call, clock});
  if (known != ended_.end()) {
    clock = known->second;
  } else {
    if (ended_.size() >= kMostClocks) ended_.clear();
    const Clock start = clock;
    simulate_from(call, clock);
    ended_.emplace(Start{call, start}, clock);
  }
  clock.move_origin(-origin);
}

void CallRunner::simulate_from(const Call& call, Clock& clock) {
  ++simulated_count_;
  const std::size_t simulated_ranks = clock.ranks.size();
  if (simulated_ranks < model_.hosts.size()) {
    const PlannedCall& equal = planned(with_equal_chunks(model_, call), simulated_ranks);
    return has_gaps(model_, call) ? simulate(with_equal_work(model_, call), equal, clock)
                                  : simulate(model_, equal, clock);
  }
  if (call.algorithm != collectives::Algorithm::kShared) {
    return simulate(model_, planned(call, simulated_ranks), clock);
  }
  const double seconds = predict(model_, call.algorithm, call.count * sizeof(float));
  clock.ranks.assign(clock.ranks.size(), std::ranges::max(clock.ranks) + seconds);
  for (double& worked : clock.worked) worked += seconds;
}

const PlannedCall& CallRunner::planned(const Call& call, std::size_t period) {
  const auto known = plans_.find(call);
  if (known != plans_.end()) return known->second;
  PlannedCall made = plan_call(model_, call, period);
  if (step_count_ + steps_of(made) > kMostPlannedSteps) {
    plans_.clear();
    step_count_ = 0;
  }
  step_count_ += steps_of(made);
  return plans_.emplace(call, std::move(made)).first->second;
}

double seconds_of_call(const WorldModel& model, const Call& call, Fold fold) {
  Clock clock(model);
  CallRunner(model, fold).run(call, clock);
  return std::ranges::max(clock.ranks);
}

}  // namespace rota::bench

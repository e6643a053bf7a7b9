// Runs all-reduces one after another in simulated time. A call that begins as an earlier call did
// also ends like it, so it is not simulated again. If a few ranks stand for all, only these few are
// simulated.
#pragma once
#include <cstddef>
#include <map>
#include <utility>

#include "predict/fold.h"
#include "predict/simulation.h"

namespace rota::bench {

class CallRunner {
 public:
  // `model` is borrowed.
  CallRunner(const WorldModel& model, Fold fold) : model_(model), fold_(fold) {}

  // Runs a call, which each rank begins when it is free. Throws std::invalid_argument as
  // plan_call() does.
  void run(const Call& call, Clock& clock);

  // Returns how many calls were simulated.
  std::size_t simulated_count() const noexcept { return simulated_count_; }

 private:
  using Start = std::pair<Call, Clock>;

  void repeat_or_simulate(const Call& call, Clock& clock);
  void simulate_from(const Call& call, Clock& clock);
  const PlannedCall& planned(const Call& call, std::size_t period);

  const WorldModel& model_;
  Fold fold_;
  std::map<Start, Clock> ended_;  // The clocks at the end of earlier calls.
  std::map<Call, PlannedCall> plans_;
  std::size_t step_count_ = 0;  // Of all plans_.
  std::size_t simulated_count_ = 0;
};

// Returns the seconds of a call that all ranks begin together: until the last one has the sum.
// Throws as CallRunner::run() does.
double seconds_of_call(const WorldModel& model, const Call& call, Fold fold);

}  // namespace rota::bench

// Runs all-reduces one after another in simulated time. A call that begins as an earlier call did
// also ends like it, so it is not simulated again.
#pragma once
#include <cstddef>
#include <map>
#include <utility>

#include "predict/simulation.h"

namespace rota::bench {

class Calls {
 public:
  // `model` is borrowed.
  explicit Calls(const WorldModel& model) : model_(model) {}

  // Runs a call, which each rank begins when it is free.
  void run(const Call& call, Clock& clock);

  // Returns how many calls were simulated.
  std::size_t simulated_count() const noexcept { return simulated_count_; }

 private:
  using Start = std::pair<Call, Clock>;

  void simulate_from(const Call& call, Clock& clock);
  const PlannedCall& planned(const Call& call);

  const WorldModel& model_;
  std::map<Start, Clock> ended_;  // The clocks at the end of earlier calls.
  std::map<Call, PlannedCall> plans_;
  std::size_t step_count_ = 0;  // Of all plans_.
  std::size_t simulated_count_ = 0;
};

}  // namespace rota::bench

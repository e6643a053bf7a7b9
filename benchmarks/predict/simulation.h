// Runs the steps of plans in simulated time, message by message.
#pragma once
#include <compare>
#include <cstddef>
#include <vector>

#include "predict/prediction.h"

namespace rota::bench {

// An all-reduce of float32, in place.
struct Call {
  collectives::Algorithm algorithm = collectives::Algorithm::kRing;
  std::size_t count = 0;  // Elements.
  Codec codec = Codec::kIdentity;
  auto operator<=>(const Call&) const = default;  // NOLINT: there is no pointer here.
};

// How a message leaves a cable, or a rank.
struct Passage {
  double last = 0;     // When its last byte has passed.
  double seconds = 0;  // From its first byte to its last one; 0: all at once.
};

// A cable carries messages in one direction, one after another. If it has a shaper, a burst of
// bytes passes at once after a pause, and the bytes after them make up for that.
class Cable {
 public:
  // Carries a message, for which the cable needs `seconds`. Bytes pass while further bytes come in.
  // `burst_seconds` is the time that the cable would need for a burst.
  Passage pass(const Passage& message, double seconds, double burst_seconds = 0);

  // Returns the time from which the next bytes can pass.
  double free(double burst_seconds = 0) const { return paid_until_ - burst_seconds; }

  // Does what Clock::move_origin() does.
  void move_origin(double origin);

  auto operator<=>(const Cable&) const = default;  // NOLINT: there is no pointer here.

 private:
  double paid_until_ = 0;  // When all bytes would have passed without a burst.
};

// The times at which ranks and cables are free, in seconds. They outlast a call.
struct Clock {
  explicit Clock(const WorldModel& model);

  // Makes `origin` the time 0. Times before it become 0. All times are rounded to a part of a
  // picosecond, so that clocks can be compared.
  void move_origin(double origin);

  std::vector<double> ranks;    // Index = rank.
  std::vector<double> worked;   // Index = rank: seconds for which calls have kept its CPU busy.
  std::vector<Cable> leaving;   // Index = the first rank of a host.
  std::vector<Cable> arriving;  // The same.
  std::vector<Cable> up;        // Index = the first rank of a switch; empty: one switch.
  std::vector<Cable> down;      // The same.
  auto operator<=>(const Clock&) const = default;  // NOLINT: there is no pointer here.
};

// The plans for one call, by rank. If a few ranks stand for all (see fold.h), only their plans.
struct PlannedCall {
  Call call;
  std::vector<collectives::Plan> plans;
};

// Makes the plans of the first `period` ranks, which stand for all. Requires an algorithm that has
// plans. Throws std::invalid_argument if there would be too many steps, or too many peers of a
// rank.
PlannedCall plan_call(const WorldModel& model, const Call& call, std::size_t period);

// Runs the plans for one call, which a rank begins when it is free. Then sets the time at which
// each rank is free again. `clock` has the ranks whose plans there are. The next simulated step is
// always the one that can begin first. Of several such steps, it is the one of the lowest rank, and
// then the one of the rank's first lane.
void simulate(const WorldModel& model, const PlannedCall& planned, Clock& clock);

}  // namespace rota::bench

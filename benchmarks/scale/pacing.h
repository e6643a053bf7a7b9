// Paced steps: the computing of a training step takes its time, but no core. A rank sleeps until
// its gradients would be final. So 16 ranks on two cores show their communication, and not how they
// share the cores.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/time.h"
#include "scale/sums.h"
#include "scale/workload.h"

namespace rota::bench {

// When things happen in a step, from its beginning on.
struct Pace {
  base::Duration forward{};           // When the forward pass ends.
  std::vector<base::Duration> ready;  // By gradient, in forward order: when it is final.
  base::Duration computing{};         // When all of them are.
};

// Returns the pace of a step that computes for `seconds`. The time is shared by multiplications:
// the backward pass of a layer has twice as many as its forward pass. One half is for the gradient
// of the layer's input, which the first layer does not need. Requires 0 < seconds.
Pace pace_of(const ModelWork& workload, double seconds);

// Returns the least time of a step in seconds, whatever the library does: no gradient leaves before
// it is final. `counts` are the gradients' elements. Each of their bytes takes `seconds_a_byte` on
// the cable of a host; on one host, 0.
double least_step_seconds(const Pace& pace, std::span<const std::size_t> counts,
                          double seconds_a_byte);

// Returns how long a byte of gradients keeps the cable of a host busy in an all-reduce. Each of the
// hosts must at least send 2 (hosts - 1) / hosts of the bytes. The rate of the cable counts frames:
// 1448 bytes of payload make a frame of 1514 bytes. Requires hosts > 0, megabits > 0.
double seconds_of_a_byte(std::size_t hosts, double megabits);

// Tests inject a clock of their own.
struct PacingClock {
  std::function<base::TimePoint()> now;
  std::function<void(base::TimePoint)> sleep_until;
};

PacingClock real_clock();

// A rank that makes paced steps. All times are absolute, so a sleep that was too long makes the
// next one shorter: errors do not add up. Only the time in which the rank waits for sums delays its
// later steps.
class PacedRank {
 public:
  PacedRank(Pace pace, PacingClock clock);

  void start();  // The next step begins now.

  // Makes a step. If `sums` is null, the step only computes. Requires a call of start() before the
  // first step.
  void step(Sums* sums);

  // Returns the seconds for which this rank has waited for sums since it was made.
  double waited_seconds() const noexcept { return base::to_seconds(waited_); }

 private:
  Pace pace_;
  PacingClock clock_;
  base::TimePoint begin_{};  // Of the next step.
  base::Duration waited_{};
};

}  // namespace rota::bench

// How the ranks of a training run spend the time of their steps. The rank that computes longest is
// the one that the others wait for.
#pragma once
#include <cstdint>

#include <rota/export.h>

namespace rota {

// The seconds of one rank in a step, as the mean of some steps.
struct RankSeconds {
  double compute = 0;     // All but the following: the model, the optimizer, batches, hooks.
  double wait = 0;        // For sums over all ranks: for later ranks, and for the sums themselves.
  double checkpoint = 0;  // For checkpoints.
};

// Used by TrainingLoop. Counts the seconds of this rank, but reads no clock.
class ROTA_EXPORT RankSecondsCounter {
 public:
  // Seconds since some moment, the same in all calls.
  struct Reading {
    double in_all = 0;
    double wait = 0;
    double checkpoint = 0;
  };

  // Time counts from enter() to leave(): an evaluation does not count.
  void enter(const Reading& now) noexcept { since_ = now; }
  void leave(const Reading& now) noexcept;
  void add_step() noexcept { ++steps_; }

  // The steps since the last take().
  std::uint64_t steps() const noexcept { return steps_; }

  // Returns the means of these steps. Requires steps() > 0. Between enter() and leave().
  RankSeconds take(const Reading& now) noexcept;

 private:
  Reading since_;
  Reading spent_;
  std::uint64_t steps_ = 0;
};

}  // namespace rota

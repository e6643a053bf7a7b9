// What hooks ask of all ranks together: to stop, to save a checkpoint, to learn more slowly. The
// wish of a hook on one rank is enough, and all ranks fulfil it after the same step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rota/export.h>

namespace rota {

// A checkpoint that is kept when it is old, until the same marker marks another one. Each hook is a
// marker of its own.
struct CheckpointMark {
  std::size_t marker = 0;
  std::uint64_t step = 0;
};

// The wishes of all ranks, the same on every rank, except for the last two.
struct TrainingWishes {
  bool stop = false;
  bool checkpoint = false;
  bool best = false;                    // The weights are the best so far: see ask_to_keep().
  double learning_rate_factor = 1;      // The smallest factor that a rank asks for.
  std::uint64_t kept_step = 0;          // See ask_to_keep(step). Of one hook; 0: none.
  std::vector<CheckpointMark> marks{};  // On rank 0 only: what hooks ask to keep.
};

// The base class of all that may ask: hooks and sessions.
class ROTA_EXPORT Wisher {
 public:
  virtual ~Wisher();

 protected:
  // These functions may be called while the Trainer calls this object. What on_step() asks for is
  // fulfilled after the next step, because it travels with that step's score. What on_begin(),
  // on_evaluation() or on_epoch() ask for is fulfilled before the next step. A checkpoint has no
  // wishes: a run that goes on from the checkpoint of step k does not know what on_step() asked for
  // after step k. So a hook whose wish must not be lost asks again in on_begin().

  // Asks all ranks to stop, but not before `after_step` steps have been done since the first start.
  // The evaluation of an epoch whose steps are all done still takes place. `why` becomes
  // EndReport::stop_reason, shortened to 200 bytes. If this object asks again, the earlier stop and
  // its reason count. The run has then ended, and the folder of checkpoints says so.
  // Session::ask_to_stop() leaves the run to go on later.
  void ask_to_stop(std::string why, std::uint64_t after_step = 0);

  // Asks for a checkpoint. It is saved if the Trainer has a session that saves checkpoints.
  void ask_for_checkpoint() noexcept;

  // Asks for a checkpoint after the evaluation. It is kept when it is old, until a later call of
  // this object marks another one. For on_evaluation() and on_epoch().
  void ask_to_keep() noexcept;

  // Asks that the checkpoint of `step`, which was saved before, is kept when it is old, until a
  // later call of this object marks another one. Has no effect on other ranks than rank 0, or if
  // the checkpoint has been removed already.
  void ask_to_keep(std::uint64_t step) noexcept;

  // Asks that the learning rate is `factor` times what it was, from the next epoch on. `factor` is
  // more than 0, and at most 1. If several ask, on any rank, the smallest factor counts. For
  // on_evaluation() and on_epoch(). Throws Error kInvalidArgument for another factor.
  void ask_for_learning_rate(double factor);

  // From now on, each step whose number is a multiple of `every_steps` has
  // StepReport::rank_seconds: how every rank has spent the steps since the last such step. The
  // seconds travel with the score of the step, 24 bytes for each rank. If several ask, on any rank,
  // the smallest number counts. For on_begin(). Throws Error kInvalidArgument for 0.
  void ask_for_rank_seconds(std::uint64_t every_steps);

 private:
  friend class TrainingLoop;
  TrainingWishes wishes_;
  std::uint64_t rank_seconds_every_ = 0;  // Steps; 0: not asked for.
  std::string why_stop_;
  std::uint64_t stop_after_ = 0;
};

}  // namespace rota

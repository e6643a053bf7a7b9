// How a Trainer works with the object that saves and restores its state: a session.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <rota/export.h>
#include <rota/step_guard.h>
#include <rota/training_hook.h>
#include <rota/training_state.h>
#include <rota/training_wishes.h>

namespace rota {

// Called on the thread that trains. Every rank has a session, and calls each function after the
// same step. Steps are counted from the first start of the training run. A session may ask for a
// stop or a checkpoint as a hook may. An exception ends the training run.
class ROTA_EXPORT TrainingSession : public Wisher, public StepGuard {
 public:
  // Called before the first step. Collective. If there is a state to go on from, writes it to the
  // pieces that `visit` names. The place in the run (its epoch and step) comes first in a visit.
  // Returns whether the run is fresh; the path of the state, or of the parameters, that it has
  // restored; and the size of the world that saved them. `visit` may be kept until end() or fail(),
  // and may be called between steps.
  virtual BeginReport begin(const StateVisit& visit) = 0;

  // Called before step `step`. What the session asks for here travels with that step's score.
  virtual void begin_step(std::uint64_t step) = 0;

  // Called after step `step`, when the hooks have been told of this step.
  virtual void end_step(std::uint64_t step, const TrainingWishes& agreed) = 0;

  // Called before the first step and after the evaluation of each epoch, each time after the hooks.
  // `step` steps have been done. After an evaluation, the place is the beginning of the next epoch.
  virtual void between_epochs(std::uint64_t step, const TrainingWishes& agreed) = 0;

  // Returns a checkpoint that is complete and was not returned before, if there is one. Called
  // after each of the other functions until nothing is left, so that hooks are told.
  virtual std::optional<CheckpointReport> finished() = 0;

  // The seconds for which training on this rank has waited for checkpoints, since begin().
  virtual double stalled_seconds() const noexcept { return 0; }

  // Called after the last step, even if the ranks have stopped early. Collective. Saves the last
  // checkpoint, and waits for it.
  virtual void end(std::uint64_t step) = 0;

  // Called after end(), if the run has nothing left to do: its last epoch is done, or a hook has
  // ended it. Not called if rotarun has asked the ranks to end. Collective.
  virtual void complete([[maybe_unused]] std::uint64_t step) {}

  // Called in place of end() if this rank or another one has failed. A step may be half done, so
  // the state must not be saved.
  virtual void fail(const std::string& first_cause) noexcept = 0;
};

}  // namespace rota

// The frame of a training loop of your own: it begins anew or from a checkpoint, saves checkpoints,
// calls hooks, and ends in order when rotarun is asked to end the job. A Trainer has all this
// already, see TrainerOptions::session.
//
//   rota::broadcast_parameters(communicator, {weights});  // Of <rota/gradient_buckets.h>.
//   rota::Session session(communicator, {.checkpoints = {.folder = "run"}});
//   session.track("weights", weights);  // Equal on all ranks between steps.
//   session.restore();
//   while (session.step() < 1000 && session.begin_step()) {
//     …                                 // Compute gradients, and sum them over all ranks.
//     session.before_update();
//     …                                 // Change the weights.
//     session.end_step();
//   }
//   session.end();
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <rota/checkpoint.h>
#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/step_guard.h>
#include <rota/training_state.h>
#include <rota/values.h>

namespace rota {

struct SessionOptions {
  CheckpointOptions checkpoints;  // Without a folder, nothing is saved or restored.
};

// A Session tells its hooks what happens. It calls them on the thread that trains. An exception of
// a hook ends the training run on every rank.
class ROTA_EXPORT SessionHook {
 public:
  virtual ~SessionHook() = default;
  virtual void on_begin(const Restored&) {}
  // Called after step `step`. `sums` are the sums over all ranks that end_step() has computed.
  virtual void on_step([[maybe_unused]] std::uint64_t step,
                       [[maybe_unused]] std::span<const double> sums) {}
  // Called for each checkpoint that is complete. Rank 0 prints failed saves to stderr.
  virtual void on_checkpoint(const CheckpointReport&) {}
  virtual void on_end([[maybe_unused]] std::uint64_t step) {}
  // Called at most once, when this rank learns of a failure: of its own, of another rank or of a
  // hook. A hook may have had on_end already, if another hook has failed then. `first_cause` is the
  // text of the exception that a call of the Session throws. If the loop itself throws, as out of
  // its own all_reduce(), the hook is called when the Session is destroyed, and the text only says
  // that the loop failed. Files can be flushed and closed here. The hook must not wait for other
  // ranks.
  virtual void on_failure(const std::string& /*first_cause*/) noexcept {}
  virtual void visit_state(StateVisitor&) {}  // What the hook must remember, see Trainer's hooks.
};

// One thread at a time may use a Session: the thread that uses its Communicator.
class ROTA_EXPORT Session {
 public:
  // `communicator` is borrowed, and must outlive this object. Collective: every rank must make one.
  // Once it is made, rotarun lets the ranks agree on a last step if it gets SIGTERM, as AgreedSteps
  // says. So make it just before training, and call begin_step() every few seconds: otherwise
  // SIGTERM ends the ranks only after --grace. Throws what Checkpointer and AgreedSteps throw.
  explicit Session(Communicator& communicator, const SessionOptions& options = {});
  // Saves nothing: without end(), the steps since the newest checkpoint are lost.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool is_chief() const noexcept;  // Returns whether this is rank 0.

  // Call these before restore(), in the same order on every rank. Names must differ. The values are
  // borrowed. track(): values that are equal on all ranks between steps; they are saved once.
  // track_own(): values that this rank alone has. In a world of another size, a rank gets the
  // values of one saved rank, or keeps those that it has. Restored::note says what is lost so. The
  // third function tracks what `visit` visits, such as the visit_state() of a Replica. Values must
  // be in host memory. For values on a device, track a visit that copies them to the host, and back
  // if StateVisitor::writes(). Throw Error kInvalidArgument for values on a device, and after
  // restore().
  void track(const std::string& name, Values values);
  void track_own(const std::string& name, Values values);
  void track(StateVisit visit);
  // `hook` is borrowed, and must outlive this object. add_chief_hook() adds it on rank 0 only.
  // Throw Error kInvalidArgument after restore(): the hook would have missed on_begin() and its
  // state.
  void add_hook(SessionHook& hook);
  void add_chief_hook(SessionHook& hook);

  // Restores from a checkpoint what is tracked, as CheckpointOptions::resume says. Then step() is
  // the step of that checkpoint. Collective; call it once. Throws as Checkpointer::restore() does.
  // The calls below that begin or end something throw Error kInvalidArgument before restore().
  Restored restore();

  std::uint64_t step() const noexcept;  // Steps that are done, since the first start of the run.

  // Returns whether to take one more step. All ranks get false after the same step, if rotarun is
  // asked to end the job, or if a rank has called ask_to_stop(). Throws as AgreedSteps::begin()
  // does.
  bool begin_step();

  // Call it in each step before tracked values change. Waits until the save under way, if there is
  // one, has copied them.
  void before_update();

  // Returns the guard to which a Replica or GradientBuckets announce what a step is about to
  // change: `replica.set_guard(&session.guard())`. A step then waits only for what it changes next,
  // and before_update() need not be called for a Replica. If no guard is taken, begin_step() waits
  // until the save under way has copied what codecs have lost.
  StepGuard& guard() noexcept;

  // Ends a step. Adds up `sums` over all ranks, in place, together with the wishes of all ranks, in
  // one small all-reduce. Then tells the hooks, and saves a checkpoint, if a rank has asked for one
  // or if one is due. Collective. Throws Error kInvalidArgument if the step before began a save,
  // and in this step neither the loop called before_update() nor a Replica told the guard; what
  // hooks throw; what Checkpointer::save() throws; and what collectives throw.
  void end_step(std::span<double> sums = {});

  // Asks all ranks to stop. A call on one rank is enough: end_step() tells all ranks. The run goes
  // on later: end() does not say that it has ended. To end a run for good, leave the loop on all
  // ranks after the same step. In a Trainer's run, Wisher::ask_to_stop() does end the run.
  void ask_to_stop() noexcept;
  void ask_for_checkpoint() noexcept;

  // Keeps the checkpoint of `step` when it is old, besides CheckpointOptions::keep others, until a
  // later call names another one. To save and keep the step under way, call ask_for_checkpoint(),
  // and keep_best(step() + 1). A run that goes on calls it again after restore(). Has no effect on
  // other ranks than rank 0, if that checkpoint is not saved, or if it has been removed already.
  void keep_best(std::uint64_t step);

  // Saves a checkpoint, unless the newest one is of this step, and waits until it is written.
  // Unless begin_step() has returned false, also says in the folder that the run has ended: a run
  // that was asked to stop goes on later. Collective. Throws Error kCannotWrite if that fails.
  void end();

 private:
  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota

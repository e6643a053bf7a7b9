// Passes what happens in a training run on to a Checkpointer.
#include "training/checkpoints.h"

#include <optional>
#include <string>
#include <utility>

#include <rota/error.h>

namespace rota::training {
namespace {

class Checkpoints final : public TrainingSession {
 public:
  Checkpoints(Communicator& communicator, CheckpointOptions options)
      : communicator_(communicator), options_(std::move(options)) {}

  BeginReport begin(const StateVisit& visit) override {
    checkpointer_.emplace(communicator_, options_, visit);
    const Restored restored = checkpointer_->restore();
    return {.fresh = restored.is_fresh,
            .path = restored.path,
            .saved_world_size = restored.world_size,
            .note = restored.note,
            .run = restored.run};
  }
  void begin_step(std::uint64_t step) override {
    checkpointer_->go_on();
    if (checkpointer_->is_due(step)) ask_for_checkpoint();
  }
  void end_step(std::uint64_t step, const TrainingWishes& agreed) override {
    mark(agreed);
    if (agreed.checkpoint) save(step);
  }
  void between_epochs(std::uint64_t step, const TrainingWishes& agreed) override {
    mark(agreed);
    if (agreed.checkpoint || agreed.best) save(step);
  }
  std::optional<CheckpointReport> finished() override {
    while (auto report = checkpointer_->finished()) {
      if (report->failure.empty()) return report;
    }
    return std::nullopt;
  }
  double stalled_seconds() const noexcept override { return checkpointer_->stalled_seconds(); }
  void end(std::uint64_t step) override { checkpointer_->finish(step); }
  void complete(std::uint64_t step) override { checkpointer_->complete(step); }
  void fail(const std::string&) noexcept override { checkpointer_.reset(); }

  // A program may use the Replica of a Trainer before run(), or after run() has failed.
  void before_update(std::size_t parameter) override {
    if (checkpointer_) checkpointer_->before_update(parameter);
  }
  void before_send(std::size_t bucket) override {
    if (checkpointer_) checkpointer_->before_send(bucket);
  }

 private:
  void mark(const TrainingWishes& agreed) {
    for (const auto& [marker, kept] : agreed.marks) checkpointer_->mark_best(kept, marker);
  }

  // After an evaluation, there may already be a checkpoint of the last step. Then no other one is
  // needed.
  void save(std::uint64_t step) {
    if (checkpointer_->last_step() != step) checkpointer_->save(step);
  }

  Communicator& communicator_;
  CheckpointOptions options_;
  std::optional<Checkpointer> checkpointer_;
};

}  // namespace

std::unique_ptr<TrainingSession> make_session(Communicator& communicator,
                                              const CheckpointOptions& options) {
  return std::make_unique<Checkpoints>(communicator, options);
}

}  // namespace rota::training

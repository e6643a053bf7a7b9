// The hook that writes the curves of a training run for TensorBoard. A run that was interrupted and
// resumed has one curve, as if nothing had happened.
//
//   rota::Summaries summaries("logs/first");
//   summaries.watch(trainer.replica());
//   trainer.add_chief_hook(summaries);
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <rota/export.h>
#include <rota/model.h>
#include <rota/onnx.h>
#include <rota/replica.h>
#include <rota/safetensors.h>
#include <rota/summaries.h>
#include <rota/trainable.h>
#include <rota/training_hook.h>
#include <rota/training_loop.h>
#include <rota/training_state.h>

namespace rota {

struct SummariesOptions {
  std::uint64_t every_steps = 10;  // From one point of a curve in train/ to the next.
  // From one histogram of the watched tensors to the next. 0: no norms and no histograms.
  std::uint64_t histogram_steps = 0;
  bool rank_seconds = true;  // Whether there are curves of how each rank spends its time.
  bool graph = true;         // Whether a watched rota::Model is shown as a graph.
  // The curves of a score's sums, in their order: each point is a sum divided by the number of
  // samples. The sums of your own score may need other names. Sums without a name have no curve.
  std::vector<std::string> curves = {"cost", "accuracy"};
  SummaryOptions writer;           // Its first_step is not used.
  std::string name = "summaries";  // Of the hook's state. Two hooks need two names.
};

// Used by BasicSummaries, which knows the score.
class ROTA_EXPORT SummaryCurves {
 public:
  SummaryCurves(const std::filesystem::path& folder, const SummariesOptions& options,
                std::size_t sum_count);
  ~SummaryCurves();
  SummaryCurves(const SummaryCurves&) = delete;
  SummaryCurves& operator=(const SummaryCurves&) = delete;

  // `refresh`, if it is not empty, is called before the tensors are read.
  void watch(std::vector<NamedTensor> parameters, std::vector<NamedTensor> gradients,
             std::function<void()> refresh = {});
  void watch_graph(std::function<OnnxGraph()> make_graph);  // Is called when the run begins.
  void begin(const BeginReport& report);
  void add_step(const BasicStepReport<ScoreSums>& report);
  void add_evaluation(const BasicEvaluationReport<ScoreSums>& report);
  void add_test(const ScoreSums& score);  // Beside the validation set's evaluation of this epoch.
  void add_checkpoint(const CheckpointReport& report);
  void end(bool success) noexcept;
  void visit_state(StateVisitor& visitor);

 private:
  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

// Add it with add_chief_hook(). It writes to these folders, which TensorBoard shows as runs:
//
// - FOLDER/train: "cost" and "accuracy", which are means over the samples since the previous point,
//   "learning_rate", "global_step/sec", and "images/sec" of all ranks together; for each checkpoint
//   "checkpoint/seconds" and "checkpoint/stall_seconds", the time for which rank 0 had to wait;
//   for each rank R "compute_seconds/rank_R", "wait_seconds/rank_R" and
//   "checkpoint_seconds/rank_R", which are RankSeconds of the steps since the previous point; with
//   watch(), histograms "parameters/NAME" and "gradients/NAME", and Euclidean norms
//   "parameter_norm/NAME" and "gradient_norm/NAME", without /NAME those of all tensors together;
//   with watch(), also the graph of a rota::Model.
// - FOLDER/test: "cost" and "accuracy" of each evaluation of the test set. FOLDER/validation has
//   the same of the validation set, if there is one.
//
// Steps count from the first start of the training run. If the run is resumed from a checkpoint,
// its points of later steps are dropped, and written again: the curves of scores then have the
// points of a run that was never interrupted. For this, each save waits until the files have all
// earlier points, for one second at most. A run that begins anew in the same folder replaces the
// curves that were there.
//
// If a folder cannot be made or written, one warning says so, and training goes on without its
// curves. FOLDER/train is tried again when the run is started again, and the other folders with the
// next evaluation. If the disk fails later, training goes on too: see SummaryWriter. Throws Error
// kCannotWrite at the beginning of the run if another writer writes to FOLDER/train or FOLDER/test.
// A step without a point allocates nothing.
template <SummedScore S>
class ROTA_EXPORT BasicSummaries : public BasicTrainingHook<S> {
 public:
  // Throws Error kInvalidArgument if options.every_steps is 0.
  explicit BasicSummaries(const std::filesystem::path& folder, const SummariesOptions& options = {})
      : curves_(folder, options, kSumCount<S>),
        rank_seconds_every_(options.rank_seconds ? options.every_steps : 0) {}

  // Every SummariesOptions::histogram_steps, writes norms and histograms of the parameters, and of
  // the mean gradients before clipping. For a tensor of more than 65,536 elements, a histogram has
  // 65,536 of them at equal distances. When the run begins, writes the graph of a rota::Model: for
  // a moment, this takes as much memory as the parameters. A model of your own has no graph here.
  // `replica` is borrowed, and must live as long as training.
  template <class T, class M>
  void watch(const Replica<T, M>& replica) {
    curves_.watch(replica.tensors(), replica.gradients(), [&replica] { replica.refresh(); });
    if constexpr (std::is_same_v<M, Model<T>>) {
      curves_.watch_graph([&replica] { return onnx_graph(replica); });
    }
  }

  void on_begin(const BeginReport& report) override {
    curves_.begin(report);
    if (rank_seconds_every_ > 0) this->ask_for_rank_seconds(rank_seconds_every_);
  }
  void on_step(const BasicStepReport<S>& report) override {
    const auto sums = report.score.sums();
    curves_.add_step({.score = {sums, report.score.samples},
                      .samples = report.samples,
                      .train_seconds = report.train_seconds,
                      .steps = report.steps,
                      .learning_rate = report.learning_rate,
                      .rank_seconds = report.rank_seconds});
  }
  void on_evaluation(const BasicEvaluationReport<S>& report) override {
    const auto sums = report.score.sums();
    curves_.add_evaluation({.steps = report.steps,
                            .score = {sums, report.score.samples},
                            .is_validation = report.is_validation});
  }
  void on_epoch(const BasicEpochReport<S>& report) override {
    const auto sums = report.test.sums();
    if (report.validation.samples > 0) curves_.add_test({sums, report.test.samples});
  }
  void on_checkpoint(const CheckpointReport& report) override { curves_.add_checkpoint(report); }
  void on_end(const BasicEndReport<S>&) override { curves_.end(true); }
  void on_failure(const std::string&) noexcept override { curves_.end(false); }
  void visit_state(StateVisitor& visitor) override { curves_.visit_state(visitor); }

 private:
  SummaryCurves curves_;
  std::uint64_t rank_seconds_every_;  // 0: no curves of them.
};

// For a classifier.
using Summaries = BasicSummaries<Score>;

}  // namespace rota

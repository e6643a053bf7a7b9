// Scores the checkpoints of a training run while it goes on, in a process of its own, so that the
// ranks do not wait for evaluations.
//
//   rota::Evaluator<float> evaluator(model(), validation, {.folder = "run", .logs = "logs/first"});
//   evaluator.run([](const auto& score) { … });
//
//   rotarun -np 4 ./train : --role evaluator ./evaluate
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <rota/dataset.h>
#include <rota/evaluator_loop.h>
#include <rota/export.h>
#include <rota/score_sums.h>
#include <rota/source.h>
#include <rota/trainable.h>
#include <rota/values.h>

namespace rota {

// T is float or double; M is a model of T, see <rota/trainable.h>. One thread at a time may use an
// Evaluator. It needs no Communicator.
template <class T, Trainable M = Model<T>>
class ROTA_EXPORT Evaluator : private EvaluatorLoop {
 public:
  using BatchType = typename M::BatchType;
  using ScoreType = typename M::ScoreType;
  using Scored = BasicCheckpointScore<ScoreType>;

  // Takes over `model`, and gives it memory. The data that `samples` refers to is borrowed, and
  // must outlive this object. Throws Error kInvalidArgument if there are no samples or if an option
  // makes no sense, kNoMemory.
  Evaluator(M&& model, SampleSource<BatchType> samples, const EvaluatorOptions& options)
      : EvaluatorLoop(options, model.parameters(), data_type_of<T>(), samples.count,
                      kSumCount<ScoreType>),
        model_(std::move(model)),
        samples_(std::move(samples)) {
    for (std::size_t index = 0; index < model_.parameters().size(); ++index) {
      model_.bind(index, as_span(values_of(index)), as_span(gradient_of(index)));
    }
    model_.initialize(1);
  }

  // Makes an Evaluator of a classifier of images. Also throws Error kInvalidArgument if the data
  // does not fit the model.
  Evaluator(M model, const DatasetView& samples,
            const EvaluatorOptions& options) requires std::same_as<M, Model<T>>
      : Evaluator(std::move(model), samples_of(samples, model, options.batch_size, "validation"),
                  options) {}

  // Evaluates each checkpoint that appears in the folder once, even if the evaluator is started
  // again. The last checkpoint is always evaluated. Calls `tell` for each checkpoint, when its
  // score is written down. Older ones come first. Returns when the training run has ended: when its
  // file ended.json says so, and no checkpoint waits. Beside the ranks of rotarun (ROTA_ROLE is
  // set), a file ended.json does not count that is older than this process, because the run may be
  // about to go on. After SIGTERM, returns as soon as the last checkpoint is evaluated; others
  // are left for the next start. Beside ranks whose training run has ended, others follow the last
  // one: rotarun sends SIGTERM then, and kills this process after its --grace.
  //
  // A checkpoint that is damaged, or gone before its turn, is passed over, and named on stderr. So
  // is a damaged line of evaluations.jsonl: its checkpoint is evaluated again. If the folder of the
  // curves cannot be written, one warning says so, and the evaluator goes on. Missing points come
  // with the next checkpoint. If evaluations.jsonl cannot be written later, such as on a full disk,
  // the scores stay in memory until it can.
  //
  // Throws Error kMismatch if a checkpoint is of another model or training set; kCannotWrite if
  // evaluations.jsonl cannot be opened for writing, or if another evaluator uses the folder;
  // kBadData if ended.json is damaged; UnreadableFile if the folder cannot be read in five tries;
  // and what `tell` throws.
  EvaluatorReport run(std::function<void(const Scored&)> tell = {}) {
    tell_ = std::move(tell);
    return run_loop();
  }

  // Scores one checkpoint, a folder with a manifest.json, or the parameters in a safetensors file.
  // Throws Error kNotFound if there is nothing at `path`; kBadData if it is damaged; kMismatch or
  // kInvalidArgument if it is of another model; UnreadableFile.
  Scored evaluate(const std::filesystem::path& path) { return with_score(score_path(path)); }

  // Makes the parameters of the model those of such a checkpoint or file. Throws as evaluate()
  // does.
  void load(const std::filesystem::path& path) { load_path(path); }

  // Returns the model. It has the parameters of the latest checkpoint or file.
  M& model() noexcept { return model_; }
  const M& model() const noexcept { return model_; }

 private:
  static std::span<T> as_span(const Values& values) {
    return {reinterpret_cast<T*>(values.data()), values.count()};
  }
  static Scored with_score(const BasicCheckpointScore<ScoreSums>& score) {
    return {score.path,   score.run, score.start, score.step, score_from<ScoreType>(score.score),
            score.seconds};
  }

  ScoreSums evaluate_some(std::span<const std::uint64_t> samples) override {
    const ScoreType score = model_.evaluate(samples_.gather({.samples = samples}));
    sums_ = score.sums();
    return {sums_, score.samples};
  }
  void tell_of_score(const BasicCheckpointScore<ScoreSums>& score) override {
    if (tell_) tell_(with_score(score));
  }

  M model_;  // Uses the memory of EvaluatorLoop.
  SampleSource<BatchType> samples_;
  std::function<void(const Scored&)> tell_;
  decltype(std::declval<ScoreType>().sums()) sums_{};  // Sums of the latest score.
};

}  // namespace rota

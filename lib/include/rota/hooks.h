// Hooks that end a training run in time, keep its best weights, and lower its learning rate. Add
// each of them on all ranks with add_hook(), or on one with add_chief_hook().
//
//   rota::EarlyStopping early({.patience = 3, .watched = rota::Watched::accuracy()});
//   trainer.add_hook(early);
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <rota/best_so_far.h>
#include <rota/evaluators_word.h>
#include <rota/export.h>
#include <rota/stop_after.h>
#include <rota/trainable.h>
#include <rota/training_hook.h>
#include <rota/training_state.h>

namespace rota {

// Throws Error kInvalidArgument for a patience of 0. Returns the patience.
ROTA_EXPORT std::uint64_t checked_patience(std::uint64_t patience);
// Throws Error kInvalidArgument unless 0 < factor < 1. Returns the factor.
ROTA_EXPORT double checked_factor(double factor);

struct EarlyStoppingOptions {
  std::uint64_t patience = 3;  // Training stops after so many evaluations without a better one.
  double min_delta = 0;        // A better number differs by more than this.
  Watched watched = Watched::loss();
  std::string name = "early stopping";  // Of its state. Two hooks need two names.
  // The evaluations.jsonl of an Evaluator, which then takes the place of the Trainer's evaluations.
  // When the hook acts depends on when the evaluator is done, so it differs from run to run.
  std::filesystem::path follows = {};
};

// Ends a training run whose evaluations do not get better.
template <SummedScore S>
class ROTA_EXPORT BasicEarlyStopping : public BasicTrainingHook<S> {
 public:
  // Throws Error kInvalidArgument for options that make no sense.
  explicit BasicEarlyStopping(EarlyStoppingOptions options = {})
      : options_(std::move(options)),
        word_(options_.follows, kSumCount<S>),
        best_(options_.watched, options_.min_delta, kSumCount<S>),
        patience_(checked_patience(options_.patience)) {}

  void on_begin(const BeginReport& report) override {
    if (report.fresh) best_.forget();
    word_.begin(report);
    stop_if_due();
  }
  void on_step(const BasicStepReport<S>& report) override {
    while (const auto found = word_.next(report.steps)) {
      best_.take(found->sums, static_cast<std::size_t>(found->samples));
      stop_if_due();
    }
  }
  void on_evaluation(const BasicEvaluationReport<S>& report) override {
    if (word_.is_followed()) return;
    best_.take(report.score.sums(), report.score.samples);
    stop_if_due();
  }
  void visit_state(StateVisitor& visitor) override {
    best_.visit_state(visitor, options_.name, word_.owner());
    word_.visit_state(visitor, options_.name);
  }

 private:
  void stop_if_due() {
    if (best_.evaluations_since() < patience_) return;
    this->ask_to_stop("no evaluation was better than the best one for " +
                      std::to_string(best_.evaluations_since()) +
                      (word_.is_followed() ? " checkpoints" : " epochs"));
  }

  EarlyStoppingOptions options_;
  EvaluatorsWord word_;
  BestSoFar best_;
  std::uint64_t patience_;
};

struct KeepBestOptions {
  Watched watched = Watched::loss();
  std::string name = "keep best";  // Of its state. Two hooks need two names.
  // As in EarlyStoppingOptions. Rank 0 needs the hook then, the other ranks do not.
  std::filesystem::path follows = {};
};

// Saves a checkpoint after each evaluation that is the best so far. This checkpoint is not removed
// until a better one is saved. Several such hooks keep a checkpoint each.
// If the hook follows an evaluator, it saves no further checkpoint: it keeps the checkpoint with
// the best score so far, if this checkpoint is still there when its score is known.
template <SummedScore S>
class ROTA_EXPORT BasicKeepBest : public BasicTrainingHook<S> {
 public:
  // Throws Error kInvalidArgument for options that make no sense.
  explicit BasicKeepBest(KeepBestOptions options = {})
      : options_(std::move(options)),
        word_(options_.follows, kSumCount<S>),
        best_(options_.watched, 0, kSumCount<S>) {}

  void on_begin(const BeginReport& report) override {
    if (report.fresh) best_.forget();
    if (report.fresh) best_step_ = 0;
    word_.begin(report);
    if (best_step_ > 0) this->ask_to_keep(best_step_);
  }
  void on_step(const BasicStepReport<S>& report) override {
    while (const auto found = word_.next(report.steps)) {
      if (!best_.take(found->sums, static_cast<std::size_t>(found->samples))) continue;
      best_step_ = found->step;
      this->ask_to_keep(best_step_);
    }
  }
  void on_evaluation(const BasicEvaluationReport<S>& report) override {
    if (word_.is_followed()) return;
    if (!best_.take(report.score.sums(), report.score.samples)) return;
    best_step_ = report.steps;
    this->ask_to_keep();
  }
  void visit_state(StateVisitor& visitor) override {
    best_.visit_state(visitor, options_.name, word_.owner());
    visitor.visit_counter({.name = options_.name + "/step of the best", .owner = word_.owner()},
                          best_step_);
    word_.visit_state(visitor, options_.name);
  }

 private:
  KeepBestOptions options_;
  EvaluatorsWord word_;
  BestSoFar best_;
  std::uint64_t best_step_ = 0;  // 0: there is none.
};

struct ReduceOnPlateauOptions {
  double factor = 0.5;         // The learning rate is multiplied by this factor, which is below 1.
  std::uint64_t patience = 2;  // The rate falls after so many evaluations without a better one.
  double min_delta = 0;        // A better number differs by more than this.
  Watched watched = Watched::loss();
  std::string name = "reduce on plateau";  // Of its state. Two hooks need two names.
};

// Lowers the learning rate of all ranks when evaluations do not get better.
template <SummedScore S>
class ROTA_EXPORT BasicReduceOnPlateau : public BasicTrainingHook<S> {
 public:
  // Throws Error kInvalidArgument for options that make no sense.
  explicit BasicReduceOnPlateau(ReduceOnPlateauOptions options = {})
      : options_(std::move(options)),
        best_(options_.watched, options_.min_delta, kSumCount<S>),
        patience_(checked_patience(options_.patience)),
        factor_(checked_factor(options_.factor)) {}

  void on_begin(const BeginReport& report) override {
    if (report.fresh) best_.forget();
  }
  void on_evaluation(const BasicEvaluationReport<S>& report) override {
    best_.take(report.score.sums(), report.score.samples);
    if (best_.evaluations_since() < patience_) return;
    best_.count_anew();
    this->ask_for_learning_rate(factor_);
  }
  void visit_state(StateVisitor& visitor) override { best_.visit_state(visitor, options_.name); }

 private:
  ReduceOnPlateauOptions options_;
  BestSoFar best_;
  std::uint64_t patience_;
  double factor_;
};

// For a classifier.
using EarlyStopping = BasicEarlyStopping<Score>;
using KeepBest = BasicKeepBest<Score>;
using ReduceOnPlateau = BasicReduceOnPlateau<Score>;

}  // namespace rota

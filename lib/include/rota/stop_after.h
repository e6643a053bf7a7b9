// The hook that ends a training run after so many steps, seconds or samples.
#pragma once
#include <cstdint>
#include <string>

#include <rota/export.h>
#include <rota/trainable.h>
#include <rota/training_hook.h>

namespace rota {

// All limits count from the first start of the training run. 0: no limit.
struct StopAfterOptions {
  std::uint64_t steps = 0;
  double seconds = 0;         // Of training, without evaluation, on a rank with this hook.
  std::uint64_t samples = 0;  // Of all ranks together.
};

// Ends a training run after so many steps, seconds or samples, whichever comes first.
template <SummedScore S>
class ROTA_EXPORT BasicStopAfter : public BasicTrainingHook<S> {
 public:
  explicit BasicStopAfter(const StopAfterOptions& options) : options_(options) {}

  void on_begin(const BeginReport& report) override {
    if (options_.steps > 0) {
      this->ask_to_stop(std::to_string(options_.steps) + " steps are done", options_.steps);
    }
    stop_if_due(report.train_seconds, report.samples);
    stop_after_next(report.step, report.samples, report.next_samples);
  }
  void on_step(const BasicStepReport<S>& report) override {
    stop_if_due(report.train_seconds, report.samples);
    stop_after_next(report.steps, report.samples, report.next_samples);
  }

 private:
  // Looks ahead, because a wish after a step is fulfilled one step later.
  void stop_after_next(std::uint64_t steps, std::uint64_t samples, std::size_t next_samples) {
    if (options_.samples > samples && options_.samples <= samples + next_samples) {
      this->ask_to_stop(done_samples(), steps + 1);
    }
  }
  void stop_if_due(double seconds, std::uint64_t samples) {
    if (options_.seconds > 0 && seconds >= options_.seconds) {
      this->ask_to_stop("the time for training is over");
    }
    if (options_.samples > 0 && samples >= options_.samples) this->ask_to_stop(done_samples());
  }
  std::string done_samples() const {
    const bool is_one = options_.samples == 1;
    return std::to_string(options_.samples) + (is_one ? " sample is done" : " samples are done");
  }

  StopAfterOptions options_;
};

using StopAfter = BasicStopAfter<Score>;  // For a classifier.

}  // namespace rota

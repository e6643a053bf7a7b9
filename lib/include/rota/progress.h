// Has training hooks that report progress, to people and to programs.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>

#include <rota/evaluator_loop.h>
#include <rota/export.h>
#include <rota/training_hook.h>

namespace rota {

// These functions return text without a newline at the end. `loss` is the mean loss to show.
ROTA_EXPORT std::string to_text(const BeginReport& report);  // May be empty: nothing was restored.
ROTA_EXPORT std::string to_text(const StepReport& report, double loss);
ROTA_EXPORT std::string to_text(const CheckpointReport& report);
ROTA_EXPORT std::string to_text(const EvaluationReport& report);
ROTA_EXPORT std::string to_text(const CheckpointScore& score);
ROTA_EXPORT std::string to_text(const EvaluatorReport& report);
ROTA_EXPORT std::string to_text(const EpochReport& report);
ROTA_EXPORT std::string to_text(const EndReport& report);
ROTA_EXPORT std::string to_json(const BeginReport& report);       // "event" is "restored".
ROTA_EXPORT std::string to_json(const EvaluationReport& report);  // "event" is "evaluation".
ROTA_EXPORT std::string to_json(const CheckpointScore& score);    // Also "evaluation".
ROTA_EXPORT std::string to_json(const EvaluatorReport& report);   // "event" is "evaluated".
ROTA_EXPORT std::string to_json(const EpochReport& report);       // "event" is "epoch".
ROTA_EXPORT std::string to_json(const CheckpointReport& report);  // "event" is "checkpoint".
ROTA_EXPORT std::string to_json(const EndReport& report);         // "event" is "done" or "stopped".

struct ROTA_EXPORT ProgressOptions {
  std::size_t columns = 0;  // Width of the terminal; 0: the output is not a terminal.

  // Checks whether standard output is a terminal, and how wide it is. If it is a pipe to a launcher
  // that writes to a terminal, the launcher has put the width of its terminal into ROTA_TERMINAL.
  static ProgressOptions from_environment();
};

// Writes lines for people, from one rank. `out` is borrowed, and no other thread may write to it.
// On a terminal there is one live line: Progress rewrites it in place, with a carriage return at
// its end, until the line of the epoch replaces it. Elsewhere there are at most ten lines per
// epoch, and at most one line in five seconds. The loss is the mean over the steps since the last
// update of the live line, the last other line, or the line of the last epoch.
class ROTA_EXPORT Progress : public TrainingHook {
 public:
  explicit Progress(std::ostream& out,
                    const ProgressOptions& options = ProgressOptions::from_environment());
  void on_begin(const BeginReport& report) override;
  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;
  void on_checkpoint(const CheckpointReport& report) override;
  void on_end(const EndReport& report) override;

 private:
  bool due(const StepReport& report) const noexcept;
  void write_line(const std::string& text);

  std::ostream& out_;
  ProgressOptions options_;
  Score since_line_;
  std::size_t line_step_ = 0;
  double line_seconds_ = 0;
};

// Writes one JSON object per line, for programs: if a state or parameters were restored ("event" is
// "restored"), after the first step ("first_step"), after each evaluation of a validation set
// ("evaluation"), after each epoch, for each checkpoint ("checkpoint"), and at the end. `out` is
// borrowed.
class ROTA_EXPORT JsonLines : public TrainingHook {
 public:
  explicit JsonLines(std::ostream& out) : out_(out) {}
  void on_begin(const BeginReport& report) override;
  void on_step(const StepReport& report) override;
  void on_evaluation(const EvaluationReport& report) override;
  void on_epoch(const EpochReport& report) override;
  void on_checkpoint(const CheckpointReport& report) override;
  void on_end(const EndReport& report) override;

 private:
  std::ostream& out_;
  bool has_stepped_ = false;
};

}  // namespace rota

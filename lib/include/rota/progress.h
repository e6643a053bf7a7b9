// Hooks that show how training goes: to people, and to programs.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>

#include <rota/export.h>
#include <rota/training_hook.h>

namespace rota {

// Each without a newline.
// `loss`: the mean to be shown.
ROTA_EXPORT std::string to_text(const StepReport& report, double loss);
ROTA_EXPORT std::string to_text(const EpochReport& report);
ROTA_EXPORT std::string to_text(const EndReport& report);
ROTA_EXPORT std::string to_json(const EpochReport& report);  // One object; its "event" is "epoch" …
ROTA_EXPORT std::string to_json(const EndReport& report);    // … "done" or "stopped".

struct ROTA_EXPORT ProgressOptions {
  std::size_t columns = 0;  // Of the terminal that is written to; 0: it is none.

  // Asks standard output. Where that is a launcher's pipe with a terminal behind it, the launcher
  // has left the terminal's width in the environment (ROTA_TERMINAL).
  static ProgressOptions from_environment();
};

// Lines for people, of one rank: `out` is lent, and no other thread may write to it. On a terminal
// one line lives: it is rewritten in place, and ends in a carriage return, until the line of the
// epoch takes its place. Elsewhere ten lines an epoch are written at most, and one in five seconds.
// The loss is the mean since the line before.
class ROTA_EXPORT Progress : public TrainingHook {
 public:
  explicit Progress(std::ostream& out,
                    const ProgressOptions& options = ProgressOptions::from_environment());
  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;
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

// One JSON object a line, for programs: after the first step, where "event" is "first_step", after
// each epoch, and at the end.
class ROTA_EXPORT JsonLines : public TrainingHook {
 public:
  explicit JsonLines(std::ostream& out) : out_(out) {}
  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;
  void on_end(const EndReport& report) override;

 private:
  std::ostream& out_;
};

}  // namespace rota

// Signals as values: named, and read from a descriptor instead of interrupting anything.
#pragma once
#include <signal.h>

#include <optional>
#include <span>
#include <string>

#include "os/fd.h"

namespace rota::os {

// "SIGKILL"; "signal 40" for one without a name of its own.
std::string signal_name(int number);

struct Signal {
  int number = 0;
  bool from_terminal = false;  // Typed at a terminal, so the whole foreground group has it.
};

// What this process was started with, for programs that it starts in turn.
struct SignalState {
  sigset_t mask;
  bool ignores_pipe = false;
  bool ignores_file_size = false;
};

// Blocks `numbers` for the life of the process and makes a descriptor that is readable while one
// of them waits. A signal that the process was started to ignore stays ignored, as nohup wants it.
// SIGPIPE and SIGXFSZ are ignored from here on: an output that is closed or may grow no more is a
// value, not a death.
class SignalWatch {
 public:
  explicit SignalWatch(std::span<const int> numbers);  // Throws Error kSystem.

  int fd() const noexcept { return fd_.get(); }
  const SignalState& state_at_start() const noexcept { return at_start_; }

  // The next signal that waits; empty when there is none. Never blocks.
  std::optional<Signal> next();

  // Whether another one than this waits. It is left to next().
  bool has_other_than(int number) const noexcept;

 private:
  sigset_t watched_{};
  Fd fd_;
  SignalState at_start_;
};

}  // namespace rota::os

// Turns signals into values: a signal has a name, and is read from a descriptor instead of
// interrupting code.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

#include "os/fd.h"

namespace rota::os {

// Returns the name of a signal, such as "SIGKILL", or "signal 40" for a signal without a name.
std::string signal_name(int number);

struct Signal {
  int number = 0;
  bool from_terminal = false;  // Typed at a terminal: the whole foreground group gets it.
  pid_t sender = 0;            // The process that has sent it; 0: the kernel.
};

// The signal state at the start of this process, for programs that it starts.
struct SignalState {
  sigset_t mask;
  bool ignores_pipe = false;
  bool ignores_file_size = false;
};

// Blocks signals for the life of the process, and makes a descriptor that is readable while one of
// them waits. `requests` ask this process to end. `notices`, such as SIGCHLD, tell it something
// else. A signal that was ignored at the start stays ignored: nohup relies on that. SIGPIPE and
// SIGXFSZ are ignored from here on: a closed or full output is then a return value and does not
// kill the process.
class SignalWatch {
 public:
  // Throws Error kSystem.
  SignalWatch(std::span<const int> requests, std::span<const int> notices);

  int fd() const noexcept { return fd_.get(); }
  const SignalState& state_at_start() const noexcept { return at_start_; }

  // Returns the next waiting signal, or nothing when there is none. Never blocks.
  std::optional<Signal> next();

  // Returns whether a request waits. It keeps waiting for next().
  bool has_request() const noexcept;

  // Returns whether the signal is one of `notices`, even if it was ignored at the start.
  bool is_notice(int number) const noexcept { return sigismember(&notices_, number) == 1; }

 private:
  sigset_t watched_{};
  sigset_t notices_{};
  Fd fd_;
  SignalState at_start_;
};

}  // namespace rota::os

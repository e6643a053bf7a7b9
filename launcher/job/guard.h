// The outer of rotarun's two processes. It does nothing that could fail, so that it can clean up
// when the inner one, which runs the job, is killed; and the inner one ends the job when the outer
// one is. Whichever is killed, no process of the job stays behind.
#pragma once
#include <sys/types.h>

#include <functional>

#include "os/process.h"
#include "os/signals.h"

namespace rota::launcher {

// What else the outer process has to do with: children that were started before the inner one.
class OtherChildren {
 public:
  virtual ~OtherChildren() = default;

  // The inner process exists from now on.
  virtual void after_fork() = 0;

  // A child other than the inner one has changed its state.
  virtual void on_process(const os::ProcessEvent& event) = 0;

  // They are given some time to end after the inner one.
  virtual bool have_ended() const = 0;
};

// Whether somebody typed it at the terminal, so that both processes have it and the outer one keeps
// it to itself. A hangup may have come to that one alone.
bool was_typed(const os::Signal& signal) noexcept;

// Runs `body` in a child, which is told the guard's id, and returns its result; returns twice, once
// in each process. Signals that ask for the job's end are passed on to the child. Throws Error
// kSystem.
int run_guarded(os::SignalWatch& signals, const std::function<int(pid_t guard)>& body,
                OtherChildren* others = nullptr);

}  // namespace rota::launcher

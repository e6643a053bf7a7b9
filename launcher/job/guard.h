// The guard is the outer one of rotarun's two processes. Whichever of the two is killed, no process
// of the job stays behind. The guard does nothing that could fail, so it can clean up when the
// inner process, which runs the job, is killed. The inner process ends the job when the guard is
// killed.
#pragma once
#include <sys/types.h>

#include <functional>

#include "os/process.h"
#include "os/signals.h"

namespace rota::launcher {

// Other children of the guard, such as agents: programs like ssh, which start rotarun on other
// hosts. They were started before the inner process.
class OtherChildren {
 public:
  virtual ~OtherChildren() = default;

  // Called once the inner process exists.
  virtual void after_fork() = 0;

  // Called when a child other than the inner process has changed its state.
  virtual void on_process(const os::ProcessEvent& event) = 0;

  // Returns whether all of them have ended. After the inner process has ended, the guard gives them
  // some time.
  virtual bool have_ended() const = 0;
};

// Returns whether somebody typed the signal at the terminal. Such a signal has reached both
// processes of rotarun, so the guard does not pass it on. A hangup does not count as typed: it may
// have come to the guard alone.
bool was_typed(const os::Signal& signal) noexcept;

// Runs `body` in a child process. This function returns in both processes: in the child with the
// result of `body`, and in the guard with the exit code for rotarun. `body` gets the guard's
// process id. The guard passes signals that ask for the job's end on to the child. Throws Error
// kSystem.
int run_guarded(os::SignalWatch& signals, const std::function<int(pid_t guard)>& body,
                OtherChildren* others = nullptr);

}  // namespace rota::launcher

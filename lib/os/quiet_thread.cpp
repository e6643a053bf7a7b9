// Blocks signals while the thread is made, because a thread inherits the mask.
#include "os/quiet_thread.h"

#include <csignal>
#include <system_error>
#include <utility>

#include "os/system_error.h"

namespace rota::os {
namespace {

// Signals that a fault of the thread itself causes. If they were blocked, the process would die
// without running its handler for them.
constexpr int kOwnFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int own_fault : kOwnFaults) sigdelset(&all, own_fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::thread start_quiet_thread(std::function<void()> body) {
  const SignalsBlocked blocked;
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw_cannot_start("starting a thread", error.code().value());
  }
}

}  // namespace rota::os

// Turns signals into values: a signal has a name, and is read from a descriptor instead of
// interrupting code.
#include "os/signals.h"

#include <sys/signalfd.h>

#include <cerrno>
#include <utility>

#include "os/system_error.h"

namespace rota::os {
namespace {

bool is_ignored(int number) noexcept {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

std::string signal_name(int number) {
  static constexpr std::pair<int, const char*> kNames[] = {
      {SIGHUP, "SIGHUP"},       {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},   {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"},     {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},     {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"},     {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},   {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"},     {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},   {SIGCHLD, "SIGCHLD"},
      {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},   {SIGTTIN, "SIGTTIN"},
      {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"},   {SIGXFSZ, "SIGXFSZ"},
      {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"}, {SIGIO, "SIGIO"},
      {SIGSYS, "SIGSYS"},
  };
  for (const auto& [known, name] : kNames) {
    if (known == number) return name;
  }
  return "signal " + std::to_string(number);
}

SignalWatch::SignalWatch(std::span<const int> requests, std::span<const int> notices) {
  ::signal(SIGCHLD, SIG_DFL);  // If SIGCHLD is ignored, children leave no status.
  sigemptyset(&watched_);
  sigemptyset(&notices_);
  for (const int number : notices) sigaddset(&notices_, number);
  for (const std::span<const int> numbers : {requests, notices}) {
    for (const int number : numbers) {
      if (!is_ignored(number)) sigaddset(&watched_, number);
    }
  }
  if (::sigprocmask(SIG_BLOCK, &watched_, &at_start_.mask) != 0) throw_errno("sigprocmask");
  at_start_.ignores_pipe = is_ignored(SIGPIPE);
  at_start_.ignores_file_size = is_ignored(SIGXFSZ);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  fd_ = Fd(::signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw_errno("signalfd");
}

std::optional<Signal> SignalWatch::next() {
  signalfd_siginfo info;
  for (;;) {
    const ssize_t count = ::read(fd_.get(), &info, sizeof info);
    if (count == static_cast<ssize_t>(sizeof info)) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) throw_errno("reading signals");
    return std::nullopt;
  }
  return Signal{.number = static_cast<int>(info.ssi_signo),
                .from_terminal = info.ssi_code == SI_KERNEL,
                .sender = static_cast<pid_t>(info.ssi_pid)};
}

bool SignalWatch::has_request() const noexcept {
  sigset_t waiting;
  if (::sigpending(&waiting) != 0) return false;
  for (int number = 1; number < NSIG; ++number) {
    if (is_notice(number) || sigismember(&watched_, number) != 1) continue;
    if (sigismember(&waiting, number) == 1) return true;
  }
  return false;
}

}  // namespace rota::os

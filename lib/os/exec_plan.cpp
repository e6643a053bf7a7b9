// Turns a forked child of this process into another program.
#include "os/exec_plan.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "os/system_error.h"

namespace rota::os {
namespace {

// Moves three descriptors to 0, 1 and 2. Duplicates them first, because one of the three may have a
// number that another of them needs.
bool place_standard_descriptors(const ProcessPlan& plan) noexcept {
  const int wanted[3] = {plan.standard_input, plan.standard_output, plan.standard_error};
  int copies[3];
  for (int i = 0; i < 3; ++i) {
    copies[i] = ::fcntl(wanted[i], F_DUPFD_CLOEXEC, 3);
    if (copies[i] < 0) return false;
  }
  for (int i = 0; i < 3; ++i) {
    if (::dup2(copies[i], i) < 0) return false;
  }
  return true;
}

void restore_signals(const SignalState& state) noexcept {
  ::signal(SIGPIPE, state.ignores_pipe ? SIG_IGN : SIG_DFL);
  ::signal(SIGXFSZ, state.ignores_file_size ? SIG_IGN : SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &state.mask, nullptr);
}

bool bind_to(const cpu_set_t* cpus, std::size_t bytes) noexcept {
  return cpus == nullptr || ::sched_setaffinity(0, bytes, cpus) == 0;
}

bool limit_open_files(std::uint64_t count) noexcept {
  rlimit limit{};
  if (count == 0) return true;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = static_cast<rlim_t>(count);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

std::vector<char*> to_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

ExecPlan prepare(const ProcessPlan& plan) {
  ExecPlan prepared;
  prepared.arguments = to_pointers(plan.arguments);
  prepared.environment = to_pointers(plan.environment);
  if (plan.cpus.empty()) return prepared;
  int count = 0;
  for (const int cpu : plan.cpus) count = std::max(count, cpu + 1);
  prepared.cpus.reset(CPU_ALLOC(static_cast<std::size_t>(count)));
  if (!prepared.cpus) throw_errno("allocating a set of CPUs", ENOMEM);
  prepared.cpu_bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
  CPU_ZERO_S(prepared.cpu_bytes, prepared.cpus.get());
  for (const int cpu : plan.cpus) {
    CPU_SET_S(static_cast<std::size_t>(cpu), prepared.cpu_bytes, prepared.cpus.get());
  }
  return prepared;
}

void become(const ProcessPlan& plan, const ExecPlan& prepared, pid_t parent) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != parent) ::_exit(kCannotStart);  // The parent died before prctl() watched it.
  if (!place_standard_descriptors(plan)) return;
  if (plan.own_session && ::setsid() < 0) return;
  for (const int fd : plan.kept_fds) {
    if (::fcntl(fd, F_SETFD, 0) != 0) return;
  }
  if (!bind_to(prepared.cpus.get(), prepared.cpu_bytes)) return;
  if (!limit_open_files(plan.open_file_limit)) return;
  if (!plan.working_directory.empty() && ::chdir(plan.working_directory.c_str()) != 0) return;
  restore_signals(plan.signals);
  ::execve(plan.program.c_str(), prepared.arguments.data(), prepared.environment.data());
}

StartFailure to_failure(int error_number) {
  return {error_number, std::generic_category().message(error_number),
          error_number == ENOENT || error_number == ENOTDIR};
}

}  // namespace rota::os

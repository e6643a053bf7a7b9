// Starting other processes, and learning how they end.
#include "os/process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "os/pipe.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

constexpr int kCannotStart = 127;

std::vector<char*> to_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Moves three descriptors to 0, 1 and 2. Duplicates first, as one of them may be where another is
// to go.
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

struct CpuSetDeleter {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

// What the child needs, made before the fork, so that nothing is allocated after it.
struct Prepared {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::unique_ptr<cpu_set_t, CpuSetDeleter> cpus;
  std::size_t cpu_bytes = 0;
  pid_t parent = 0;
};

Prepared prepare(const ProcessPlan& plan) {
  Prepared prepared;
  prepared.arguments = to_pointers(plan.arguments);
  prepared.environment = to_pointers(plan.environment);
  prepared.parent = ::getpid();
  if (plan.cpus.empty()) return prepared;
  int count = 0;
  for (const int cpu : plan.cpus) count = std::max(count, cpu + 1);
  prepared.cpus.reset(CPU_ALLOC(static_cast<std::size_t>(count)));
  if (!prepared.cpus) throw_errno("a set of CPUs", ENOMEM);
  prepared.cpu_bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
  CPU_ZERO_S(prepared.cpu_bytes, prepared.cpus.get());
  for (const int cpu : plan.cpus) {
    CPU_SET_S(static_cast<std::size_t>(cpu), prepared.cpu_bytes, prepared.cpus.get());
  }
  return prepared;
}

// Runs in the child, between fork and exec: system calls only. Returns when one of them failed.
void become(const ProcessPlan& plan, const Prepared& prepared) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != prepared.parent) ::_exit(kCannotStart);  // It died before it was watched.
  if (!place_standard_descriptors(plan)) return;
  if (plan.own_session && ::setsid() < 0) return;
  if (plan.kept_fd >= 0 && ::fcntl(plan.kept_fd, F_SETFD, 0) != 0) return;
  if (!bind_to(prepared.cpus.get(), prepared.cpu_bytes)) return;
  if (!limit_open_files(plan.open_file_limit)) return;
  if (!plan.working_directory.empty() && ::chdir(plan.working_directory.c_str()) != 0) return;
  restore_signals(plan.signals);
  ::execve(plan.program.c_str(), prepared.arguments.data(), prepared.environment.data());
}

bool is_runnable(const std::string& path, const std::string& directory, int& error_number) {
  const bool is_relative = path.empty() || path.front() != '/';
  const std::string whole = is_relative && !directory.empty() ? directory + "/" + path : path;
  struct stat status {};
  if (::stat(whole.c_str(), &status) != 0) {
    error_number = errno;
    return false;
  }
  error_number = S_ISDIR(status.st_mode) ? EISDIR : EACCES;
  return S_ISREG(status.st_mode) && ::access(whole.c_str(), X_OK) == 0;
}

StartFailure to_failure(int error_number) {
  return {error_number, std::generic_category().message(error_number),
          error_number == ENOENT || error_number == ENOTDIR};
}

}  // namespace

StartedProcess start_process(const ProcessPlan& plan) {
  const Prepared prepared = prepare(plan);
  auto [failure_read, failure_write] = make_pipe();
  const pid_t pid = fork_process();
  if (pid == 0) {
    become(plan, prepared);
    const int error_number = errno;
    const ssize_t written = ::write(failure_write.get(), &error_number, sizeof error_number);
    ::_exit(written < 0 ? kCannotStart - 1 : kCannotStart);
  }
  return {pid, std::move(failure_read)};
}

StartState read_start_failure(const Fd& start_failure, StartFailure& failure) {
  int error_number = 0;
  char bytes[sizeof error_number];
  const ReadResult result = read_available(start_failure.get(), bytes);
  if (result.io == Io::kWouldBlock) return StartState::kUnknown;
  if (result.io == Io::kClosed) return StartState::kRunning;
  std::copy(bytes, bytes + sizeof bytes, reinterpret_cast<char*>(&error_number));
  failure = to_failure(error_number);
  return StartState::kFailed;
}

StartFailure become_program(const std::string& program, const std::vector<std::string>& arguments) {
  const std::vector<char*> pointers = to_pointers(arguments);
  ::execv(program.c_str(), pointers.data());
  return to_failure(errno);
}

std::string find_program(const std::string& name, const std::string& search_path,
                         const std::string& working_directory, StartFailure& failure) {
  int error_number = ENOENT;
  if (name.find('/') != std::string::npos) {
    if (is_runnable(name, working_directory, error_number)) return name;
    failure = to_failure(error_number);
    return {};
  }
  int worst = ENOENT;  // A file that cannot be run says more than a file that is not there.
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    const std::string directory = search_path.substr(begin, end - begin);
    std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (is_runnable(path, working_directory, error_number)) return path;
    if (error_number == EACCES) worst = EACCES;
    begin = end + 1;
  }
  failure = to_failure(worst);
  return {};
}

ProcessEvents next_process_event() {
  int status = 0;
  pid_t pid = -1;
  do {
    pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
  } while (pid < 0 && errno == EINTR);
  if (pid < 0 && errno != ECHILD) throw_errno("waitpid");
  if (pid <= 0) return {std::nullopt, pid == 0};
  using Kind = ProcessEvent::Kind;
  ProcessEvent event{pid, Kind::kContinued, SIGCONT};
  if (WIFEXITED(status)) event = {pid, Kind::kExited, WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) event = {pid, Kind::kKilled, WTERMSIG(status)};
  if (WIFSTOPPED(status)) event = {pid, Kind::kStopped, WSTOPSIG(status)};
  return {event, true};
}

pid_t fork_process() {
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork");
  return pid;
}

void send_signal(pid_t pid, int signal) noexcept { ::kill(pid, signal); }

void adopt_orphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw_errno("prctl(PR_SET_CHILD_SUBREAPER)");
}

void die_with_parent(pid_t parent, int signal) {
  if (::prctl(PR_SET_PDEATHSIG, signal) != 0) throw_errno("prctl(PR_SET_PDEATHSIG)");
  if (::getppid() != parent) ::_exit(128 + signal);
}

}  // namespace rota::os

// Starts processes, and reports how they end.
#include "os/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "os/exec_plan.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

constexpr const char* kUsualPath = "/usr/local/bin:/usr/bin:/bin";

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

}  // namespace

pid_t start_process(const ProcessPlan& plan) {
  const ExecPlan prepared = prepare(plan);
  const pid_t parent = ::getpid();
  const pid_t pid = fork_process();
  if (pid > 0) return pid;
  become(plan, prepared, parent);
  ::_exit(kCannotStart);
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
  const std::string folders = search_path.empty() ? kUsualPath : search_path;
  int worst = ENOENT;  // EACCES says more than ENOENT.
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string directory = folders.substr(begin, end - begin);
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
  return {to_event(pid, status), true};
}

ProcessEvent to_event(pid_t pid, int status) noexcept {
  using Kind = ProcessEvent::Kind;
  if (WIFEXITED(status)) return {pid, Kind::kExited, WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) return {pid, Kind::kKilled, WTERMSIG(status)};
  if (WIFSTOPPED(status)) return {pid, Kind::kStopped, WSTOPSIG(status)};
  return {pid, Kind::kContinued, SIGCONT};
}

pid_t fork_process() {
  const pid_t pid = ::fork();
  if (pid < 0) throw_cannot_start("fork", errno);
  return pid;
}

void send_signal(pid_t pid, int signal) noexcept { ::kill(pid, signal); }

std::string process_name(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

bool adopt_orphans() noexcept { return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void die_with_parent(pid_t parent, int signal) {
  if (::prctl(PR_SET_PDEATHSIG, signal) != 0) throw_errno("prctl(PR_SET_PDEATHSIG)");
  if (::getppid() != parent) ::_exit(128 + signal);
}

}  // namespace rota::os

// Finds, signals and ends descendants of a process: its children, their children, and so on.
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <unordered_map>
#include <utility>

#include "os/children.h"
#include "os/pidfd.h"
#include "os/process.h"

namespace rota::os {
namespace {

struct DirectoryCloser {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

// Returns those names of a directory's entries that are numbers.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, DirectoryCloser> directory(::opendir(path.c_str()));
  if (!directory) return numbers;
  while (const dirent* entry = ::readdir(directory.get())) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (number > 0 && *end == '\0') numbers.push_back(static_cast<pid_t>(number));
  }
  return numbers;
}

// Reads field 4 of /proc/PID/stat. An earlier field, the program name, is in parentheses and may
// hold any character.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > line.size()) return -1;
  return static_cast<pid_t>(std::strtol(line.c_str() + name_end + 4, nullptr, 10));
}

// Uses the kernel's own lists of children. Some kernels are built without them.
bool add_listed(pid_t parent, std::vector<pid_t>& found) {
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  for (const pid_t task : numbers_in(tasks)) {
    std::ifstream file(tasks + "/" + std::to_string(task) + "/children");
    if (!file) return false;
    for (pid_t child = 0; file >> child;) found.push_back(child);
  }
  return true;
}

std::vector<pid_t> scan_all_processes(pid_t parent) {
  std::unordered_multimap<pid_t, pid_t> children;
  for (const pid_t pid : numbers_in("/proc")) children.emplace(parent_of(pid), pid);
  std::vector<pid_t> found{parent};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

// Returns whether /proc shows the process numbers of this process's PID namespace. This is false
// when /proc is missing or belongs to another PID namespace.
bool is_proc_ours() {
  char text[16] = {};
  const ssize_t length = ::readlink("/proc/self", text, sizeof text - 1);
  return length > 0 && std::strtol(text, nullptr, 10) == ::getpid();
}

// Returns descendants of `root`, parents before their children. A list of process numbers is
// outdated as soon as it is read. So the function first holds each process by a descriptor. A held
// process belongs to the tree if its parent belongs to the tree and is still alive.
std::vector<HeldProcess> hold_descendants(pid_t root) {
  std::vector<HeldProcess> held;
  std::unordered_map<pid_t, std::size_t> position_of;
  for (const pid_t pid : descendants_of(root)) {
    HeldProcess process = hold_process(pid);
    const pid_t parent = parent_of(pid);
    const auto found = position_of.find(parent);
    const bool is_ours =
        parent == root || (found != position_of.end() && signal_held(held[found->second], 0));
    if (process.is_gone || !is_ours) continue;
    position_of.emplace(pid, held.size());
    held.push_back(std::move(process));
  }
  return held;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t parent) {
  std::vector<pid_t> found;
  if (!is_proc_ours()) return found;
  if (!add_listed(parent, found)) return scan_all_processes(parent);
  for (std::size_t i = 0; i < found.size(); ++i) {
    (void)add_listed(found[i], found);  // An ended process has no list and no children.
  }
  return found;
}

std::size_t signal_descendants_of(pid_t root, int signal) noexcept {
  std::vector<HeldProcess> held = hold_descendants(root);
  // Parents come first. Otherwise a shell that waits for a child would see the child end, and might
  // finish its script before the signal reaches the shell. SIGKILL goes in the opposite order, so
  // it reaches a keeper (keeper.h) after the keeper's tree. If this process is killed meanwhile,
  // the keeper still ends that tree.
  if (signal == SIGKILL) std::ranges::reverse(held);
  for (const HeldProcess& process : held) (void)signal_held(process, signal);
  return held.size();
}

void signal_descendants(int signal) noexcept {
  if (signal_descendants_of(::getpid(), signal) == 0) signal_children(signal);
}

bool end_descendants(base::Duration limit) noexcept {
  const base::TimePoint end = base::Clock::now() + limit;
  for (;;) {
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped > 0 || (reaped < 0 && errno == EINTR)) continue;
    if (reaped < 0) return true;
    if (base::Clock::now() >= end) return false;
    signal_descendants(SIGKILL);
    const timespec pause{0, 200'000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace rota::os

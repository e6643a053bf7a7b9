// Reads /proc with system calls, which tell of an error by their result.
#include "testing/proc.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "os/fd.h"

namespace rota::testing {
namespace {

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// Returns the paths of all entries of a folder that can be read.
std::vector<std::filesystem::path> entries_of(const std::string& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(folder, error); !error && at != end;
       at.increment(error)) {
    entries.push_back(at->path());
  }
  return entries;
}

}  // namespace

std::string proc_file(pid_t pid, const std::string& name) {
  const os::Fd file(::open((folder_of(pid) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string contents;
  std::array<char, 4096> some{};
  for (;;) {
    const ssize_t got = ::read(file.get(), some.data(), some.size());
    if (got <= 0) return contents;
    contents.append(some.data(), static_cast<std::size_t>(got));
  }
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  for (const auto& entry : entries_of("/proc")) {
    const std::string name = entry.filename().string();
    pid_t pid = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && rest == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

std::vector<std::string> descriptor_targets(pid_t pid) {
  std::vector<std::string> targets;
  for (const auto& entry : entries_of(folder_of(pid) + "/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry, error);
    if (!error) targets.push_back(target.string());
  }
  return targets;
}

}  // namespace rota::testing

// Starts ranks with fork(), and waits for them with waitpid().
#include "peers/family.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace rota::bench {

std::size_t Family::fork_ranks(std::size_t count) {
  std::string folder = (std::filesystem::temp_directory_path() / "rota-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  folder_ = folder;
  for (std::size_t rank = 1; rank < count; ++rank) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) {
      children_.clear();
      return rank;
    }
    children_.push_back(child);
  }
  return 0;
}

int Family::finish(int exit_code) {
  if (children_.empty()) return exit_code;
  for (const pid_t child : children_) {
    int status = 0;
    const bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
    const int code = ended ? WEXITSTATUS(status) : 1;
    if (exit_code == 0) exit_code = code;
  }
  children_.clear();
  std::filesystem::remove_all(folder_);
  return exit_code;
}

}  // namespace rota::bench

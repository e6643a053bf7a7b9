// Starts the ranks of a program without a launcher: the program forks, and waits for its children.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <vector>

namespace rota::bench {

class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  // Forks until there are `count` processes. Returns the index of the calling process; 0 is the
  // parent. Call it once, while there is no second thread. Throws std::runtime_error.
  std::size_t fork_ranks(std::size_t count);

  // Returns a folder that all processes know. It is empty at first, and finish() removes it.
  const std::filesystem::path& folder() const { return folder_; }

  // In the parent, waits for all children. Returns `exit_code`. If `exit_code` is 0, the parent
  // returns the first nonzero exit code of a child instead, if there is one.
  int finish(int exit_code);

 private:
  std::filesystem::path folder_;
  std::vector<pid_t> children_;
};

}  // namespace rota::bench

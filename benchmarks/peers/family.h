// Ranks of one program that have no launcher: it forks, and waits for its children.
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

  // Makes this process `count` processes, and returns which of them it is in; 0 is the parent.
  // Called once, while there is no second thread. Throws std::runtime_error.
  std::size_t fork_ranks(std::size_t count);

  // A folder that all of them know: empty at first, and gone after finish().
  const std::filesystem::path& folder() const { return folder_; }

  // The parent waits for its children. Returns `exit_code` or, where that is 0, the parent a
  // child's that is not.
  int finish(int exit_code);

 private:
  std::filesystem::path folder_;
  std::vector<pid_t> children_;
};

}  // namespace rota::bench

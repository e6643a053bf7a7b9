// Tells whether the kernel killed a process for lack of memory. It counts such kills for each
// control group.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace rota::launcher {

// Lets this process and those that it forks later count together which kills are explained. Call it
// in rotarun's outer process, before the inner one exists. Throws Error kNoMemory.
void share_explained_kills();

class OomKills {
 public:
  OomKills();  // Kills before this moment explain nothing.

  // Returns "out of memory" and the limit of the control group if the kernel killed a process
  // that `signal` has ended; otherwise an empty text. Each kill explains one ending.
  std::string why_killed(int signal);

 private:
  // How many kills were not explained when this object was made. Empty: the system does not count.
  std::optional<std::uint64_t> unexplained_;
};

}  // namespace rota::launcher

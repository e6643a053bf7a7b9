// Tells whether the kernel killed a process for lack of memory. It counts such kills for each
// control group.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace rota::launcher {

class OomKills {
 public:
  OomKills();  // Kills before this moment explain nothing.

  // Returns "out of memory" and the limit of the control group if the kernel killed a process
  // that `signal` has ended; otherwise an empty text. Each kill explains one ending.
  std::string why_killed(int signal);

 private:
  // How many kills cannot explain the end of another process. Empty: the system does not count.
  std::optional<std::uint64_t> count_;
};

}  // namespace rota::launcher

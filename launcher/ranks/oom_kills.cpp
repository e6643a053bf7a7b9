// Compares the kernel's count of kills with the kills that are explained already.
#include "launcher/ranks/oom_kills.h"

#include <signal.h>

#include "os/cgroup.h"

namespace rota::launcher {

OomKills::OomKills() : count_(os::oom_kill_count()) {}

std::string OomKills::why_killed(int signal) {
  if (signal != SIGKILL || !count_) return "";
  if (os::oom_kill_count().value_or(0) <= *count_) return "";
  ++*count_;
  const auto limit = os::memory_limit_bytes();
  return "out of memory" +
         (limit ? " (the limit of its control group is " + std::to_string(*limit >> 20) + " MiB)"
                : std::string());
}

}  // namespace rota::launcher

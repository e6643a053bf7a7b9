// Compares the kernel's count of kills with the kills that are explained already.
#include "launcher/ranks/oom_kills.h"

#include <signal.h>

#include <string>

#include "launcher/ranks/shared_counter.h"
#include "os/cgroup.h"

namespace rota::launcher {
namespace {

// A process has only one counter of kills that have explained an ending.
SharedCounter own_explained{0};             // NOLINT
SharedCounter* explained = &own_explained;  // NOLINT

}  // namespace

void share_explained_kills() { explained = make_shared_counter("the count of explained kills"); }

OomKills::OomKills() : unexplained_(os::oom_kill_count()) {
  if (unexplained_) *unexplained_ -= explained->load();
}

std::string OomKills::why_killed(int signal) {
  if (signal != SIGKILL || !unexplained_) return "";
  if (os::oom_kill_count().value_or(0) <= *unexplained_ + explained->load()) return "";
  explained->fetch_add(1);
  const auto limit = os::memory_limit_bytes();
  return "out of memory" +
         (limit ? " (the limit of its control group is " + std::to_string(*limit >> 20) + " MiB)"
                : std::string());
}

}  // namespace rota::launcher

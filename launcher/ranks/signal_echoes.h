// SignalEchoes tells a new signal from an echo. One signal for the ranks may come by several ways:
// to both processes of rotarun, if it was sent to their process group, and to the rotarun of each
// host, if it was sent to a Slurm step.
#pragma once
#include <map>
#include <set>
#include <string>

#include "base/time.h"

namespace rota::launcher {

// How long after a signal the same signal by another way is an echo of it.
inline constexpr std::chrono::seconds kEchoTime{1};

class SignalEchoes {
 public:
  // Returns whether the signal has come before, by another way. `way` names the host or the process
  // that got it. A signal that comes again by the same way is new, however soon.
  bool is_echo(int number, const std::string& way, base::TimePoint now);

  // Returns whether the signal has ever come.
  bool has_come(int number) const { return heard_.contains(number); }

 private:
  struct Heard {
    base::TimePoint since;       // When the signal was new.
    std::set<std::string> ways;  // By which it has come since then.
  };
  std::map<int, Heard> heard_;  // By the number of the signal.
};

}  // namespace rota::launcher

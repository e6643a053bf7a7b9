// Reads what the ranks of training_stop_ranks print when they have stopped.
#pragma once
#include <sstream>
#include <string>
#include <vector>

namespace rota::testing {

struct Stopped {
  bool early = false;
  std::size_t steps = 0;
  std::string weights;

  friend bool operator==(const Stopped&, const Stopped&) = default;
};

// Returns what each rank printed last. Skips lines that ranks do not print when they stop.
inline std::vector<Stopped> last_words_in(const std::string& out, std::size_t world_size) {
  std::vector<Stopped> last(world_size);
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    std::string label;
    Stopped stopped;
    std::size_t rank = 0;
    words >> what >> stopped.steps >> stopped.weights >> label >> rank;
    if (!words || label != "rank" || rank >= world_size) continue;
    stopped.early = what == "stopped";
    last[rank] = stopped;
  }
  return last;
}

}  // namespace rota::testing

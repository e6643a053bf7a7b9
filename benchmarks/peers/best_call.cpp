// Chooses the fastest of several ways to make a call: tries each of them a few times.
#include "peers/best_call.h"

#include <algorithm>
#include <chrono>

namespace rota::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytesOfATrial = 8 << 20;
constexpr std::size_t kMostCalls = 100;
constexpr std::size_t kTrials = 3;
// Seconds. Disturbances of the machine are shorter than such a trial, so two trials are enough.
constexpr double kLongTrial = 0.1;

// Returns the seconds of one call: the minimum of a few trials, since a disturbance only adds time.
double seconds_of(Group& group, const PreparedCall& way, std::size_t bytes) {
  const std::size_t calls = std::clamp(kBytesOfATrial / bytes, std::size_t{1}, kMostCalls);
  way.make();
  double least = 0;
  for (std::size_t trial = 0; trial < (least < kLongTrial ? kTrials : 2); ++trial) {
    group.barrier();
    const auto begin = Clock::now();
    for (std::size_t call = 0; call < calls; ++call) way.make();
    const double own = std::chrono::duration<double>(Clock::now() - begin).count();
    const double slowest = std::ranges::max(group.gather_from_all({&own, 1}));
    least = trial == 0 ? slowest : std::min(least, slowest);
  }
  return least / static_cast<double>(calls);
}

}  // namespace

PreparedCall best_call(Group& group, const std::vector<PreparedCall>& ways, std::size_t bytes) {
  const PreparedCall* best = nullptr;
  double least = 0;
  for (const PreparedCall& way : ways) {
    const double seconds = seconds_of(group, way, std::max<std::size_t>(1, bytes));
    if (best != nullptr && seconds >= least) continue;
    best = &way;
    least = seconds;
  }
  return *best;
}

}  // namespace rota::bench

// Has a counter that rotarun's two processes share. Without the counter, a hung rotarun would never
// end, and neither would its job.
#include "launcher/ranks/heartbeat.h"

#include <atomic>

#include "launcher/ranks/shared_counter.h"

namespace rota::launcher {
namespace {

// Four checks without a new beat take nearly five seconds.
constexpr std::uint64_t kMostMissed = 4;
constexpr std::uint64_t kMostMissedAtFirst = 30;

// A check that comes later than this proves nothing: the checking process was stopped, too, for
// example by Ctrl-Z.
constexpr auto kLateLook = kPulseTime * 2;

SharedCounter* shared_counter = nullptr;  // NOLINT: a process has only one.

}  // namespace

void make_heartbeat() { shared_counter = make_shared_counter("the heartbeat's page"); }

void beat() noexcept {
  if (shared_counter) shared_counter->fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t count_beats() noexcept {
  return shared_counter ? shared_counter->load(std::memory_order_relaxed) : 0;
}

const std::atomic<std::uint64_t>* heartbeat() noexcept { return shared_counter; }

void wait_beating(os::PollSet& polls, std::optional<base::TimePoint> end) {
  beat();
  polls.wait(base::earlier(end, base::Clock::now() + kPulseTime));
}

bool HangWatch::is_hung(base::TimePoint now, std::uint64_t beats, bool is_excused) noexcept {
  const bool is_late = looked_at_ && now - *looked_at_ > kLateLook;
  const bool is_well = beats != beats_ || is_late || is_excused;
  missed_ = is_well ? 0 : missed_ + 1;
  beats_ = beats;
  looked_at_ = now;
  return missed_ >= (beats == 0 ? kMostMissedAtFirst : kMostMissed);
}

}  // namespace rota::launcher

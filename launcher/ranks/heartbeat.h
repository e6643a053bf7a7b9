// By the heartbeat, the outer one of rotarun's two processes sees that the event loop of the inner
// one is still running. The heartbeat is a counter in memory that both processes share. A process
// that only waits also beats once a second.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "os/poll_set.h"

namespace rota::launcher {

// The inner process beats at least this often, and the outer one checks this often.
inline constexpr std::chrono::seconds kPulseTime{1};

// Makes the counter. Call it in the outer process, before the inner one exists. Throws Error
// kNoMemory.
void make_heartbeat();

// Beats. Call it in the inner process. Without an outer process it has no effect.
void beat() noexcept;

// Beats, then waits for `polls`: until `end`, or until the next beat is due if that is earlier.
void wait_beating(os::PollSet& polls, std::optional<base::TimePoint> end);

// Returns, in the outer process, the number of beats so far; 0 before the first.
std::uint64_t count_beats() noexcept;

// Returns the counter itself, for other processes that the inner one forks; null if there is no
// counter.
const std::atomic<std::uint64_t>* heartbeat() noexcept;

// Judges, once each kPulseTime, whether the other process hangs: it hangs if four checks in a row
// find no new beat. Before the first beat, 30 such checks are needed, because the process may wait
// for others before its loop runs.
class HangWatch {
 public:
  // Returns true once the process has been silent for so long that it counts as hung. `is_excused`:
  // the process waits for a disk, or is traced.
  bool is_hung(base::TimePoint now, std::uint64_t beats, bool is_excused) noexcept;

 private:
  std::uint64_t beats_ = 0;
  std::uint64_t missed_ = 0;  // Checks in a row without a new beat.
  std::optional<base::TimePoint> looked_at_;
};

}  // namespace rota::launcher

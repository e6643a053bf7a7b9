// The sign by which the outer of rotarun's two processes sees that the inner one still turns its
// loop: a counter in memory that both have. Who only waits beats once a second as well.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "os/poll_set.h"

namespace rota::launcher {

// How often the inner process beats at least, and the outer one looks.
inline constexpr std::chrono::seconds kPulseTime{1};

// In the outer process, before there is an inner one. Throws Error kNoMemory.
void make_heartbeat();

// In the inner process; without an outer one it is for nobody.
void beat() noexcept;

// Waits for `polls`, until `end` at most, and no longer than until the next beat is due.
void wait_beating(os::PollSet& polls, std::optional<base::TimePoint> end);

// In the outer process: how many beats there were; 0 before the first.
std::uint64_t count_beats() noexcept;

// The counter itself, for other processes that the inner one forks; null where there is none.
const std::atomic<std::uint64_t>* heartbeat() noexcept;

// Judges, once a kPulseTime, whether the other process hangs: where four looks in a row find no new
// beat. One that was never heard has 30 looks, as it may wait for others before its loop turns.
class HangWatch {
 public:
  // `is_excused`: it waits for a disk, or somebody traces it. True once it has been silent for so
  // long that it hangs.
  bool is_hung(base::TimePoint now, std::uint64_t beats, bool is_excused) noexcept;

 private:
  std::uint64_t beats_ = 0;
  std::uint64_t missed_ = 0;  // Looks in a row.
  std::optional<base::TimePoint> looked_at_;
};

}  // namespace rota::launcher

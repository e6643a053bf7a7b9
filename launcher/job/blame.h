// Whose failure a failure is. Survivors of one rank's death fail as well, often before its death
// is known; following what each says about the others leads to the one that was first.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <rota/error.h>

#include "base/time.h"

namespace rota::launcher {

// How a process ended.
struct Ending {
  bool was_killed = false;
  int value = 0;  // The exit code, or the number of the signal.
  base::TimePoint at{};
  std::string why{};  // Where more is known: "out of memory".

  bool is_success() const noexcept { return !was_killed && value == 0; }
};

// What a rank said when it failed.
struct Report {
  ErrorCode error = ErrorCode::kSystem;
  std::optional<std::size_t> blamed;
  std::string text;
  bool is_echo = false;  // Only that others broke the job, which had been reported before.
  base::TimePoint at{};
};

// All that is known about one rank.
struct RankRecord {
  std::optional<Ending> ending;
  std::optional<Report> report;            // The first one.
  std::optional<std::size_t> waiting_for;  // Another rank, when the job broke.
  std::optional<base::TimePoint> stopped_since;
  bool has_left = false;  // It said that it needs no other rank any more.
};

struct Fault {
  enum class Kind {
    kDied,      // It ended with a code other than 0, or by a signal.
    kReported,  // It said that it cannot go on.
    kStopped,   // It is suspended.
    kSilent,    // It is alive, waits for nobody, and somebody waited for it in vain.
    kLeft,      // It ended well, or left, while somebody needed it.
  };
  Kind kind = Kind::kDied;
  std::size_t rank = 0;
  std::optional<std::size_t> witness;  // Who waited for it.
  std::string testimony;               // What the witness said.

  // Nothing is known about `rank` itself yet. Its death may be on its way: ask again until then.
  std::optional<base::TimePoint> uncertain_until;
};

// Requires records[first] to have failed: to have a report, or an ending that is no success.
Fault find_fault(std::span<const RankRecord> records, std::size_t first);

}  // namespace rota::launcher

// Finds the rank whose failure came first. When one rank dies, its peers fail as well, often before
// the death is known. The ranks' reports about each other lead to the first failure.
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
  std::string why{};  // If more is known: "out of memory".

  bool is_success() const noexcept { return !was_killed && value == 0; }
};

// The report of a rank that failed.
struct Report {
  ErrorCode error = ErrorCode::kSystem;
  std::optional<std::size_t> blamed;
  std::string text;
  bool is_echo = false;  // Only repeats another rank's failure that is known already.
  base::TimePoint at{};
  std::optional<int> code{};  // MPI ended the job with this exit code.
};

// All that is known about one rank.
struct RankRecord {
  std::optional<Ending> ending;
  std::optional<Report> report;            // Its first report.
  std::optional<std::size_t> waiting_for;  // The rank it waited for when the job failed.
  std::optional<base::TimePoint> stopped_since;
  std::optional<base::TimePoint> overdue_since;  // When it was first seen stopped for too long.
  bool has_left = false;  // It reported that it needs no other rank any more.
};

struct Fault {
  enum class Kind {
    kDied,      // It ended with a code other than 0, or by a signal.
    kReported,  // It reported that it cannot go on.
    kStopped,   // It is suspended.
    kSilent,    // It is alive and waits for no rank, but a rank waited for it too long.
    kLeft,      // It ended well, or left, while another rank needed it.
  };
  Kind kind = Kind::kDied;
  std::size_t rank = 0;
  std::optional<std::size_t> witness;  // The rank that waited for it.
  std::string testimony;               // The words of the witness.

  // Set if nothing is known about `rank` itself yet. The message of its death may be on its way:
  // ask again until this time.
  std::optional<base::TimePoint> uncertain_until;
};

// Returns the fault behind the failure of rank `first`. Requires that records[first] has failed: it
// has a report, or an ending without success.
Fault find_fault(std::span<const RankRecord> records, std::size_t first);

}  // namespace rota::launcher

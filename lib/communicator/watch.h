// Measures how long a rank has waited in its oldest operation, and decides when to tell the
// launcher, and when the wait ends. Pure: callers pass the time and what they see of the peer.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/time.h"

namespace rota {

class Watch {
 public:
  // A longer wait is reported to the launcher.
  static constexpr std::chrono::milliseconds kReportAfter{100};
  // A waiting thread looks every few milliseconds. A longer gap means that the whole process was
  // suspended: no rank caused that gap. So a gap counts as this time at most, both as a part of the
  // deadline and as time in which a stream did not move. On a host that is too slow, each gap may
  // be longer. A wait must end there too, so no gap is left out as a whole.
  static constexpr std::chrono::milliseconds kSuspended{500};
  // A rank that gives up must tell why within this time.
  static constexpr std::chrono::milliseconds kTellsWithin{200};
  // If a peer has ended, its stream may still bring data that the peer sent before. The wait for a
  // stream that neither ends nor moves takes at most this long, and ends at the deadline.
  static constexpr std::chrono::seconds kStreamEnds{2};

  explicit Watch(base::Duration deadline) noexcept : deadline_(deadline) {}

  // Called when the oldest operation is done: the clock of the next one starts. Returns true if a
  // wait was reported to the launcher: that wait is now over.
  bool on_finished() noexcept {
    first_look_ = departure_seen_ = {};
    return ends_report();
  }
  // Called when something was moved: data that a peer sent before it ended is still arriving.
  void on_moved() noexcept { departure_seen_ = {}; }

  // Called by a thread that finds nothing to move.
  void look(base::TimePoint now) noexcept;

  // knows_departure_of() tells whether a peer is known to have ended. on_departure_of() records it.
  bool knows_departure_of(std::size_t peer) const noexcept { return departed_ == peer; }
  void on_departure_of(std::size_t peer) noexcept;

  // Returns whether to tell the launcher that this rank waits for `peer`: once for each wait.
  bool wants_report_of(std::size_t peer) const noexcept;
  void on_report_of(std::size_t peer) noexcept { reported_ = peer; }
  // Called when this rank waits for no peer any more. Returns true if a wait was reported to the
  // launcher.
  bool ends_report() noexcept { return std::exchange(reported_, std::nullopt).has_value(); }

  enum class Verdict : std::uint8_t {
    kWaits,
    kEnded,  // The peer has ended, and all data that can come from it has arrived.
    kTimedOut,
  };
  // Decides about a wait for `peer`. `tells_why`: the peer gives up, and has not told why yet.
  // `stream_goes_on`: the peer's data comes in a stream, and the end of the stream has not been
  // seen.
  Verdict judge(std::size_t peer, bool tells_why, bool stream_goes_on) noexcept;

 private:
  base::Duration deadline_;
  base::TimePoint now_{};
  base::TimePoint last_look_{};
  base::TimePoint first_look_{};         // The first look in the oldest operation.
  std::optional<std::size_t> departed_;  // An awaited peer that is known to have ended.
  base::TimePoint departure_seen_{};     // When that end was first seen in this operation.
  std::optional<std::size_t> reported_;  // The peer of the last report to the launcher.
};

}  // namespace rota

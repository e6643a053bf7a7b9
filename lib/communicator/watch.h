// How long a rank has waited in its oldest operation, and what follows from that: whether the
// launcher is to be told, and when the wait ends. Pure: it is told the time and what is seen of the
// peer, and asks for nothing.
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
  // A wait that is longer is told to the launcher.
  static constexpr std::chrono::milliseconds kReportAfter{100};
  // A waiting thread looks every few milliseconds. A longer gap means that the whole process was
  // suspended: that time is nobody's fault and does not count.
  static constexpr std::chrono::milliseconds kSuspended{500};
  // A rank that gives up tells why within this time.
  static constexpr std::chrono::milliseconds kTellsWithin{200};
  // How long a stream that neither ends nor moves may still bring what a rank had sent before it
  // ended.
  static constexpr std::chrono::seconds kStreamEnds{2};

  explicit Watch(base::Duration deadline) noexcept : deadline_(deadline) {}

  // The oldest operation is done, and the clock of the next one starts. True where the launcher was
  // told of a wait, which is over.
  bool on_finished() noexcept {
    first_look_ = departure_seen_ = {};
    return ends_report();
  }
  // Something was moved: what a rank sent before it ended is still coming.
  void on_moved() noexcept { departure_seen_ = {}; }

  // A thread that finds nothing to move looks around.
  void look(base::TimePoint now) noexcept;

  // A peer is known to have ended.
  bool knows_departure_of(std::size_t peer) const noexcept { return departed_ == peer; }
  void on_departure_of(std::size_t peer) noexcept;

  // Whether the launcher is to be told that this rank waits for `peer`: once for each wait.
  bool wants_report_of(std::size_t peer) const noexcept;
  void on_report_of(std::size_t peer) noexcept { reported_ = peer; }
  // It waits for nobody any more. True where the launcher was told of a wait.
  bool ends_report() noexcept { return std::exchange(reported_, std::nullopt).has_value(); }

  enum class Verdict : std::uint8_t {
    kWaits,
    kEnded,  // The peer has, and nothing more can come of it but what is there by now.
    kTimedOut,
  };
  // Of a wait for `peer`. `tells_why`: the peer gives up, and has not said why. `stream_goes_on`:
  // what it sent comes before the end of a stream, which has not been seen.
  Verdict judge(std::size_t peer, bool tells_why, bool stream_goes_on) noexcept;

 private:
  base::Duration deadline_;
  base::TimePoint now_{};
  base::TimePoint last_look_{};
  base::Duration passed_{};              // Since the look before.
  base::TimePoint first_look_{};         // At the oldest operation; its clock starts.
  std::optional<std::size_t> departed_;  // A peer that was waited for, and is known to be gone.
  base::TimePoint departure_seen_{};     // When that was known first, in the oldest operation.
  std::optional<std::size_t> reported_;  // The peer that the launcher was told about.
};

}  // namespace rota

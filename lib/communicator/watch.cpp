// Compares times. A time of zero means that no time is set.
#include "communicator/watch.h"

#include <utility>

namespace rota {

using base::TimePoint;

// Shortens a gap here and not in judge(), since a look that brings news is not judged.
void Watch::look(TimePoint now) noexcept {
  now_ = now;
  const base::Duration too_long = now - std::exchange(last_look_, now) - kSuspended;
  if (too_long <= base::Duration(0)) return;
  if (first_look_ != TimePoint{}) first_look_ += too_long;
  if (departure_seen_ != TimePoint{}) departure_seen_ += too_long;
}

void Watch::on_departure_of(std::size_t peer) noexcept {
  departed_ = peer;
  departure_seen_ = {};
}

bool Watch::wants_report_of(std::size_t peer) const noexcept {
  const bool is_long = first_look_ != TimePoint{} && now_ - first_look_ > kReportAfter;
  return is_long && reported_ != peer;
}

Watch::Verdict Watch::judge(std::size_t peer, bool tells_why, bool stream_goes_on) noexcept {
  if (first_look_ == TimePoint{}) first_look_ = now_;
  const base::Duration more = tells_why ? base::Duration(kTellsWithin) : base::Duration(0);
  const bool is_late = now_ - first_look_ > deadline_ + more;
  if (departed_ != peer) return is_late ? Verdict::kTimedOut : Verdict::kWaits;
  // All data that the peer sent before it ended has arrived by now. Exception: in a stream, data
  // may still arrive until the end of the stream.
  if (departure_seen_ == TimePoint{}) departure_seen_ = now_;
  const bool may_come = stream_goes_on && !is_late && now_ - departure_seen_ < kStreamEnds;
  return may_come ? Verdict::kWaits : Verdict::kEnded;
}

}  // namespace rota

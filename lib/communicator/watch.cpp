// Compares times. A time of zero is none.
#include "communicator/watch.h"

#include <utility>

namespace rota {

using base::TimePoint;

void Watch::look(TimePoint now) noexcept {
  now_ = now;
  passed_ = now - std::exchange(last_look_, now);
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
  if (departed_ == peer) {
    // What it sent before it ended is here by now or, in a stream, comes before the stream's end.
    if (departure_seen_ == TimePoint{}) departure_seen_ = now_;
    const bool may_come = stream_goes_on && now_ - departure_seen_ < kStreamEnds;
    return may_come ? Verdict::kWaits : Verdict::kEnded;
  }
  if (first_look_ == TimePoint{}) {
    first_look_ = now_;
  } else if (passed_ > kSuspended) {
    first_look_ += passed_;
  }
  const base::Duration more = tells_why ? base::Duration(kTellsWithin) : base::Duration(0);
  return now_ - first_look_ <= deadline_ + more ? Verdict::kWaits : Verdict::kTimedOut;
}

}  // namespace rota

// Records events on the program's streams, and lets rota's streams wait for them.
#include "device/arrivals.h"

#include <algorithm>

#include "device/calls.h"

namespace rota::device {

int Arrivals::note(const cuda::On& on) {
  const bool is_known = std::ranges::find(noted_, on.stream, &Moment::stream) != noted_.end();
  if (is_known) return 0;
  const std::size_t event = unused_event(on.device);
  const int error = calls().record(on, events_[event].event.handle());
  if (error == 0) noted_.push_back({on.stream, event});
  return error;
}

std::size_t Arrivals::unused_event(std::uint8_t device) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const bool is_used = std::ranges::find(noted_, i, &Moment::event) != noted_.end();
    if (!is_used && events_[i].device == device) return i;
  }
  events_.push_back({device, Event(device)});
  return events_.size() - 1;
}

void Arrivals::hold(const Stream& stream) const {
  for (const Moment& moment : noted_) {
    check(calls().wait_for(stream.on(), events_[moment.event].event.handle()), stream.on().device,
          "the wait for a stream of the program");
  }
}

}  // namespace rota::device

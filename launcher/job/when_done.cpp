// Keeps rotarun running after a job that succeeded, so that a StatefulSet does not start the job
// again.
#include "launcher/job/when_done.h"

#include <algorithm>
#include <optional>

#include "launcher/job/start.h"
#include "launcher/ranks/heartbeat.h"
#include "os/poll_set.h"

namespace rota::launcher {
namespace {

using base::Clock;

}  // namespace

void stay_when_done(os::SignalWatch& signals, StatusPort* status_port, OtherHosts* others) {
  complain(
      "done: every rank ended with 0; rotarun waits until it is asked to end (--when-done wait)");
  os::PollSet polls;
  while (!next_request(signals)) {
    polls.clear();
    polls.add(signals.fd(), true, false);
    std::optional<base::TimePoint> end;
    if (status_port) {
      status_port->add_to(polls, Clock::now());
      end = status_port->next_deadline();
    }
    if (others) {
      others->send_all(Clock::now());
      others->add_to(polls);
      end = base::earlier(end, others->next_deadline());
    }
    wait_beating(polls, end);
    if (status_port) status_port->handle(polls, Clock::now());
    if (others) others->handle(polls, Clock::now());
  }
}

}  // namespace rota::launcher

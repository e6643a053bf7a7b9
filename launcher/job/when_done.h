// A rotarun that is to stay after the job: where it would be started again if it ended, as in a
// StatefulSet, it says that it is done, and waits until it is asked to end.
#pragma once
#include "launcher/job/other_hosts.h"
#include "launcher/status/status_port.h"
#include "os/signals.h"

namespace rota::launcher {

// Returns on the first signal that asks for the end. Answers at `status_port` meanwhile, and hosts
// of the same job that come too late; both may be null.
void stay_when_done(os::SignalWatch& signals, StatusPort* status_port, OtherHosts* others);

}  // namespace rota::launcher

// --when-done wait: rotarun stays after a job that succeeded, until it is asked to end. If rotarun
// ended, a StatefulSet, for example, would start it again.
#pragma once
#include "launcher/job/other_hosts.h"
#include "launcher/status/status_port.h"
#include "os/signals.h"

namespace rota::launcher {

// Returns on the first signal that asks for the end. Until then, answers at `status_port`, and
// answers hosts of the same job that come too late. Both pointers may be null.
void stay_when_done(os::SignalWatch& signals, StatusPort* status_port, OtherHosts* others);

}  // namespace rota::launcher

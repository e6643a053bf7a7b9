// Lets a host that does not lead join the job. The host tries to connect to its parent until the
// parent admits it, or until further attempts are useless.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/hosts/wire/launcher_link.h"
#include "launcher/status/status_port.h"
#include "os/signals.h"

namespace rota::launcher {

struct ParentLink {
  std::unique_ptr<LauncherLink> link;  // To the parent.
  std::string address;  // The address by which the parent and others reach this host.
  std::uint64_t incarnation = 0;
};

// Returns the link, or the exit code if this host cannot join. `start` is when this host began to
// wait, which may be several attempts ago. Prints what this host waits for, and serves
// `status_port`, which may be null.
std::variant<ParentLink, int> join_parent(const HostSetup& setup, base::TimePoint start,
                                          StatusPort* status_port);

// Returns a text that names the parent, such as "host 0 (a:7700) at a:7700".
std::string parent_text(const HostPlan& host_plan);

// If a signal ends the wait for the parent, prints a message and returns the exit code.
std::optional<int> end_by_signal(os::SignalWatch& signals, const HostPlan& host_plan);

// Returns whether a readable lifeline has ended. A lifeline carries no data.
bool has_ended(int lifeline);

}  // namespace rota::launcher

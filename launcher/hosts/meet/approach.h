// How a host that does not lead comes into the job: it calls the one above until it is let in, or
// there is no use in it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "launcher/hosts/meet/part.h"
#include "launcher/hosts/wire/trunk.h"
#include "launcher/status/status_port.h"
#include "os/signals.h"

namespace rota::launcher {

struct Arrival {
  std::unique_ptr<Trunk> trunk;  // To the one above.
  std::string address;           // By which that one, and so the others, reach this host.
  std::uint64_t incarnation = 0;
};

// Or the exit code that it all ends with. `start`: when this host began to wait, which may be more
// than one approach ago. Says what it waits for, and serves `status_port`, which may be null.
std::variant<Arrival, int> approach(const Part& part, base::TimePoint start,
                                    StatusPort* status_port);

// "host 0 (a:7700) at a:7700": the one above.
std::string parent_text(const Meeting& meeting);

// The exit code where a signal came that ends the wait for the parent; says so.
std::optional<int> end_by_signal(os::SignalWatch& signals, const Meeting& meeting);

// Of a lifeline that is readable: nothing else than its end is to come over it.
bool has_ended(int lifeline);

}  // namespace rota::launcher

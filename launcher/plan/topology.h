// The machine's cores, as hwloc sees them.
#pragma once
#include <vector>

#include "launcher/plan/placement.h"

namespace rota::launcher {

// The cores among `allowed_cpus`, in the machine's order, each with those of its hardware threads
// that are among them. Takes milliseconds, so ask only where it matters. Throws Error kSystem.
std::vector<Core> read_topology(const std::vector<int>& allowed_cpus);

}  // namespace rota::launcher

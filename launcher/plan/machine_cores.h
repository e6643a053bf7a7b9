// Reads the machine's cores with hwloc.
#pragma once
#include <vector>

#include "launcher/plan/placement.h"

namespace rota::launcher {

// Returns the cores of `allowed_cpus`, in the machine's order. Each core has only its hardware
// threads that are in `allowed_cpus`. The function takes milliseconds, so call it only if its
// result matters. Throws Error kSystem.
std::vector<Core> read_topology(const std::vector<int>& allowed_cpus);

}  // namespace rota::launcher

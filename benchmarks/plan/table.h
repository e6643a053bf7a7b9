// Lists the lanes and steps of plans.
#pragma once
#include <span>
#include <string>

#include "collectives/plan.h"

namespace rota::bench {

// Returns everything in the plans (index = rank), one line for each step.
std::string tabulate(std::span<const collectives::Plan> plans);

}  // namespace rota::bench

// Plans as they are: lanes and steps.
#pragma once
#include <span>
#include <string>

#include "collectives/plan.h"

namespace rota::bench {

// All that the plans say, index = rank, a line a step.
std::string tabulate(std::span<const collectives::Plan> plans);

}  // namespace rota::bench

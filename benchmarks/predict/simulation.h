// Runs the steps of plans in simulated time, message by message.
#pragma once
#include <cstddef>

#include "predict/prediction.h"

namespace rota::bench {

// Returns the seconds until the last rank has ended its plan of an all-reduce of `bytes` of floats,
// in place. The next simulated step is always the one that can begin first. Of several such steps,
// it is the one of the lowest rank, and then the one of the rank's first lane. Requires an
// algorithm that has plans.
double simulate(const WorldModel& model, collectives::Algorithm algorithm, std::size_t bytes);

}  // namespace rota::bench

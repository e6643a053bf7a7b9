// The paced training steps of `rota-bench scale`, as a workload of `rota-bench predict`.
#pragma once
#include <cstddef>

#include "predict/workload.h"
#include "scale/contest.h"

namespace rota::bench {

// Returns what each of `ranks` ranks computes in a paced step. The forward pass ends, and the
// gradients are final, when those of the paced step do. Throws std::invalid_argument as
// pace_of_a_rank() does.
Workload paced_workload(const ScaleOptions& options, std::size_t ranks);

}  // namespace rota::bench

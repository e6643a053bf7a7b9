// Measures real training steps: the ranks compute, in place of sleeping.
#pragma once
#include <cstddef>

#include "collectives/rota_group.h"
#include "scale/contest.h"

namespace rota::bench {

// Collective. `sums` only communicates. If the scaling is strong, each rank also times steps on the
// whole batch, since small batches are slower to compute for each image. Throws std::runtime_error
// if a sum is wrong, and what Replica throws.
ScaleResult run_real_contest(const RotaWorld& world, std::size_t hosts, Sums& sums,
                             const ScaleOptions& options);

}  // namespace rota::bench

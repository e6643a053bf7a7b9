// What tuning has found, as a person reads it.
#pragma once
#include <string>
#include <vector>

#include "tune/prediction.h"
#include "tune/selection.h"

namespace rota::bench {

// "between hosts    latency    41.2 us    0.117 GB/s each way", a line a level.
std::string to_text(const Topology& topology, const WorldModel& model);

// A line a plan: what was predicted, and what was measured.
std::string to_text(const Size& size, double margin);

// The file, with what was measured as comments.
std::string tuned_text(const TunedTable& table, const WorldModel& model,
                       const std::vector<Size>& sizes, double margin);

}  // namespace rota::bench

// Reports the results of tuning for people, and writes the tuned file.
#pragma once
#include <string>
#include <vector>

#include "predict/prediction.h"
#include "tune/selection.h"

namespace rota::bench {

// Returns a line with the topology, a line for each link that exists (within a host, between
// hosts), and a line for additions. The line of a link is, for example: "between hosts latency 41.2
// us, of which each end is busy for 9.5; 0.117 GB/s each way".
std::string to_text(const Topology& topology, const WorldModel& model);

// Returns a line for each plan: the predicted and the measured time.
std::string to_text(const Size& size, double margin);

// Returns the tuned file, with the measurements as comments.
std::string tuned_text(const TunedTable& table, const WorldModel& model,
                       const std::vector<Size>& sizes, double margin);

}  // namespace rota::bench

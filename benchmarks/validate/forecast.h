// Predicts points from costs that two hosts have measured, by the functions of `rota-bench
// predict`.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "predict/calibration.h"
#include "validate/points.h"

namespace rota::bench {

// Each rate, and each number of ranks on a host, has its calibration.
using Calibrations = std::map<std::pair<std::size_t, std::size_t>, Calibration>;

// What predictions are made from.
struct ForecastBasis {
  std::string folder{};  // Of the calibrations, for errors.
  Calibrations calibrations{};
  std::string machine{};   // The one that measures the points.
  double burst_bytes = 0;  // That the shaper at a cable lets pass at once after a pause.
  std::size_t cores = 1;   // All hosts share the cores of the machine: they are namespaces of it.
};

struct Forecast {
  double seconds = 0;        // Of a call, or of a step.
  double cable_seconds = 0;  // For which the bytes keep the busiest cable busy.
};

// Reads the calibration of each world: the file MEGABITS-RANKS, such as "1000-2". Throws
// std::invalid_argument if a file cannot be read, is no calibration, or is not of two hosts.
Calibrations read_calibrations(const std::string& folder,
                               const std::vector<ValidationPoint>& points);

// Predicts a point. A call is repeated, as `rota-bench all-reduce` does, so that a shaper lets no
// more bytes pass than its rate. Throws std::invalid_argument if a calibration is missing, or is of
// another machine or transport.
Forecast forecast(const ValidationPoint& point, const ForecastBasis& basis);

// Returns a basis that is wrong: each message takes half of its latency.
ForecastBasis with_half_latency(ForecastBasis basis);

}  // namespace rota::bench

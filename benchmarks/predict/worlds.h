// Predicts the worlds of a command line.
#pragma once
#include <optional>
#include <vector>

#include "predict/arguments.h"
#include "predict/calibration.h"
#include "predict/report.h"
#include "predict/workload.h"

namespace rota::bench {

// Throws std::invalid_argument for a world of several hosts without a rate or a latency.
void require_network(const WorldShape& shape, const WorldModel& costs);

// Returns the costs of the calibration, if there is one, with those that the arguments name.
// Throws std::invalid_argument for a calibration of another machine or transport, or one that lacks
// the codec of the arguments.
WorldModel costs_of(const PredictArguments& arguments,
                    const std::optional<Calibration>& calibration);

// Returns the shape of each world that the arguments name.
std::vector<WorldShape> shapes_of(const PredictArguments& arguments);

// Throws std::invalid_argument for a world or options that are not possible, and as
// require_network() does.
std::vector<PredictedWorld> predict_worlds(const PredictArguments& arguments,
                                           const Workload& workload, const WorldModel& costs);

// Predicts an all-reduce of each size in each world. Throws as predict_worlds() does.
std::vector<PredictedCall> predict_calls(const PredictArguments& arguments,
                                         const WorldModel& costs);

}  // namespace rota::bench

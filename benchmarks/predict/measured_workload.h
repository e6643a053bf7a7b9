// Measures the workloads of the example's models on this machine, in one thread.
#pragma once
#include <string>

#include "predict/workload.h"

namespace rota::bench {

// Returns whether the example has a model of this name.
bool is_model(const std::string& name);

// Times the steps of a model of the example, on batches of 100 images. The result has the median
// time of each part. Takes about a second.
Workload measure_workload(const std::string& model);

}  // namespace rota::bench

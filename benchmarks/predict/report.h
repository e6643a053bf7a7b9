// Reports predictions, for people and for programs.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "predict/memory.h"
#include "predict/step.h"
#include "predict/workload.h"
#include "predict/world.h"

namespace rota::bench {

struct PredictedWorld {
  WorldShape shape;
  StepPrediction step;
  RankMemory memory;
};

// One all-reduce, which all ranks begin at the same time.
struct PredictedCall {
  WorldShape shape;
  Call call;
  double seconds = 0;
  double bytes_seconds = 0;  // If nothing but the bytes between hosts took time.
};

// What predictions have cost the process that made them.
struct PredictionCost {
  double seconds = 0;
  std::size_t peak_memory_bytes = 0;  // Of the whole process.
};

// Returns a sentence about each world that is larger than a job can be; empty if none is.
std::string warning_of(const std::vector<WorldShape>& shapes);

// Both strings end in a newline. The first is a table with a row for each world. The second has a
// JSON object for each world, one per line.
std::string to_text(const Workload& workload, const std::vector<PredictedWorld>& worlds);
std::string to_json(const Workload& workload, const std::vector<PredictedWorld>& worlds);

// Do the same for single all-reduces.
std::string to_text(const std::vector<PredictedCall>& calls);
std::string to_json(const std::vector<PredictedCall>& calls);

// Return a comment, and a JSON object. Each is one line.
std::string to_text(const PredictionCost& cost);
std::string to_json(const PredictionCost& cost);

}  // namespace rota::bench

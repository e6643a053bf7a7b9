// The memory of a rank in a training job, by the formulas of docs/memory.md.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include <rota/gradient_buckets.h>

#include "predict/simulation.h"

namespace rota::bench {

struct RankMemory {
  std::uint64_t communication_bytes = 0;  // An upper bound, without the next member.
  std::uint64_t gradient_bytes = 0;       // Of GradientBuckets, with the feedback of the codec.
};

// Returns the memory of the rank that takes most. `calls` are the distinct calls of the job, and
// `transport` is as in a calibration.
RankMemory memory_of(const WorldModel& model, const BucketLayout& layout,
                     const std::vector<Call>& calls, std::string_view transport);

}  // namespace rota::bench

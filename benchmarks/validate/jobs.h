// The jobs that measure points: each is a run of rota-bench in one world.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "validate/points.h"

namespace rota::bench {

// The isolated calls of an all-reduce in one job. Their median is the time of a round.
inline constexpr std::size_t kValidatedCalls = 7;

struct ValidationJob {
  ValidatedWorld world{};
  std::string arguments{};  // Of rota-bench.
  friend bool operator==(const ValidationJob&, const ValidationJob&) = default;
};

// Returns the jobs in the order of the points. All-reduces of a world share a job if their plans
// have the same sizes.
std::vector<ValidationJob> jobs_of(const std::vector<ValidationPoint>& points);

// Returns a line for each job: Mbit/s, hosts, ranks of a host, and the arguments of rota-bench.
std::string to_text(const std::vector<ValidationJob>& jobs);

}  // namespace rota::bench

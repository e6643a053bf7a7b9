// Takes the times between the gradients of a pace.
#include "validate/paced_workload.h"

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "scale/workload.h"

namespace rota::bench {

Workload paced_workload(const ScaleOptions& options, std::size_t ranks) {
  const Pace pace = pace_of_a_rank(options, ranks);
  const std::vector<std::size_t> counts = gradient_counts(model_work_named(options.model));
  Workload workload{.name = options.model,
                    .forward_seconds = base::to_seconds(pace.forward),
                    .gradients = std::vector<Workload::Gradient>(counts.size())};
  base::Duration before = pace.forward;
  for (std::size_t index = counts.size(); index-- > 0;) {
    const base::Duration ready = pace.ready[index];
    workload.gradients[index] = {.name = std::to_string(index),
                                 .count = counts[index],
                                 .seconds = base::to_seconds(ready - std::exchange(before, ready))};
  }
  return workload;
}

}  // namespace rota::bench

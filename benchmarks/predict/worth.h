// Finds out how many hosts are worth it for a workload: the most hosts at which a training step
// still has a given efficiency.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "predict/worlds.h"

namespace rota::bench {

struct Worth {
  double least_efficiency = 0;        // A share.
  std::vector<PredictedWorld> tried;  // By number of hosts.
  std::size_t hosts = 0;              // Of the largest world that is worth it; 0: none is.
  bool is_limit = false;              // No job can have more hosts, or a larger world is refused.
  std::string refusal;                // Why the next world cannot be predicted; empty: it can.

  // Return the largest world that is worth it, and the next one that was tried; null if there is
  // none.
  const PredictedWorld* largest() const;
  const PredictedWorld* next() const;
};

// Doubles the number of hosts until a world has less than the least efficiency of `arguments`, and
// then narrows the number down. So it finds the first number that is too large if efficiency only
// falls. A world that cannot be predicted counts as too large, except for the smallest one. If the
// hosts are dealt to switches, all switches have their hosts. Throws std::invalid_argument if there
// is no network between hosts, or if no job can have the ranks of the smallest world. Throws as
// predict_worlds() does if that world cannot be predicted.
Worth worth_of(const PredictArguments& arguments, const Workload& workload,
               const WorldModel& costs);

// Both strings end in a newline. The first has the table of all worlds that were tried, and a
// sentence. The second is a JSON object on one line.
std::string to_text(const Workload& workload, const Worth& worth);
std::string to_json(const Workload& workload, const Worth& worth);

}  // namespace rota::bench

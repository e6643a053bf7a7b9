// The result that a collective promises each rank, element by element.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/plan.h"

namespace rota::testing {

// Return the number of elements in a rank's values and in its input.
std::size_t values_count(const collectives::PlanRequest& request);
std::size_t input_count(const collectives::PlanRequest& request);

// The final value of one element: element `index` of the memory with which rank `rank` started (its
// values if the call is in place, otherwise its input), or the sum of these elements over all
// ranks.
struct Promise {
  std::optional<std::size_t> rank;  // None: all ranks.
  std::size_t index = 0;
};

// Returns the promises for the values of requests[rank]. Index = element. Empty: nothing is
// promised for the element.
std::vector<std::optional<Promise>> promises(const std::vector<collectives::PlanRequest>& requests,
                                             std::size_t rank);

}  // namespace rota::testing

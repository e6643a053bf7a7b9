// What a collective promises each rank, element by element.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/plan.h"

namespace rota::testing {

// Elements of a rank's values and input.
std::size_t values_count(const collectives::PlanRequest& request);
std::size_t input_count(const collectives::PlanRequest& request);

// What an element of the values ends with: `index` of the memory that rank `rank` started with
// (its values in place, its input otherwise), or its sum over all ranks.
struct Promise {
  std::optional<std::size_t> rank;  // None: of all ranks.
  std::size_t index = 0;
};

// Index = element of the values of requests[rank]; empty where nothing is promised.
std::vector<std::optional<Promise>> promises(const std::vector<collectives::PlanRequest>& requests,
                                             std::size_t rank);

}  // namespace rota::testing

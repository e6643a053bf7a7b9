// Finds missing dependencies: two steps that touch the same elements and have no fixed order,
// although at least one of them changes the elements. Also finds redundant dependencies.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/plan.h"
#include "testing/plan_order.h"

namespace rota::testing {

// Returns the first two steps of a rank that conflict and have no order; for a barrier, a rank that
// may leave before it knows that all others have entered. Requires that no step waits for ever.
std::optional<std::string> find_conflict(const PlanOrder& order,
                                         const std::vector<collectives::PlanRequest>& requests);

// A row of `afters` in a rank's plan.
struct Dependency {
  std::size_t rank = 0;
  std::size_t row = 0;
};

// Removes a dependency: after this call, no step waits for it.
void remove_dependency(std::vector<collectives::Plan>& plans, const Dependency& dependency);

// Returns the dependencies that are redundant: each of them can be removed alone without a
// conflict. Requires plans without conflicts.
std::vector<Dependency> redundant_dependencies(
    std::vector<collectives::Plan> plans, const std::vector<collectives::PlanRequest>& requests);

}  // namespace rota::testing

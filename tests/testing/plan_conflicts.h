// What a plan's order lacks: steps that touch the same elements, at least one of which changes
// them, and neither of which is before the other. And what the order has too much of.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/plan.h"
#include "testing/plan_order.h"

namespace rota::testing {

// The first two steps of a rank that conflict and are in no order; or, of a barrier, a rank that
// may leave before it has heard of all others. Requires that no step waits for ever.
std::optional<std::string> find_conflict(const PlanOrder& order,
                                         const std::vector<collectives::PlanRequest>& requests);

// A row of the `afters` of a rank's plan.
struct Dependency {
  std::size_t rank = 0;
  std::size_t row = 0;
};

// Nobody waits for it any more.
void remove_dependency(std::vector<collectives::Plan>& plans, const Dependency& dependency);

// Those without any one of which nothing conflicts either. Requires plans in which nothing does.
std::vector<Dependency> redundant_dependencies(
    std::vector<collectives::Plan> plans, const std::vector<collectives::PlanRequest>& requests);

}  // namespace rota::testing

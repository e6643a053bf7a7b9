// Proves that the plans of all ranks are right, or says what is wrong with them. Two parts:
// - PlanOrder shows that no step waits for ever, and that whatever touches the same elements is
//   ordered. So every order in which the steps can run gives the same result.
// - Then one order is played, with symbols in place of numbers, and its result is looked at.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "collectives/plan.h"

namespace rota::testing {

// `plans` and `requests` in rank order, 64 ranks at most. Empty if every element ends with what the
// collective promises (for reductions: each rank's contribution exactly once, scaled exactly once),
// in every order; no step waits for ever, no input is written, and no step leaves its buffer.
// Otherwise a sentence that names rank, step or element.
std::optional<std::string> find_flaw(const std::vector<collectives::Plan>& plans,
                                     const std::vector<collectives::PlanRequest>& requests);

}  // namespace rota::testing

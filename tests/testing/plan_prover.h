// Proves that the plans of all ranks are right, or says what is wrong with them. The proof has two
// parts:
// - PlanOrder shows that no step waits for ever, and that steps that touch the same elements have a
// fixed order. So every possible order of the steps gives the same result.
// - Then one order is run with symbols in place of numbers, and its result is checked.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "collectives/plan.h"

namespace rota::testing {

// `plans` and `requests` are in rank order, for at most 64 ranks. Returns nothing if the plans are
// right in every order: every element ends with what the collective promises, no step waits for
// ever, no input is written, and no step leaves its buffer. For reductions the promise is each
// rank's contribution exactly once, scaled exactly once. If the plans are wrong, returns a sentence
// that names the rank, step or element.
std::optional<std::string> find_flaw(const std::vector<collectives::Plan>& plans,
                                     const std::vector<collectives::PlanRequest>& requests);

}  // namespace rota::testing

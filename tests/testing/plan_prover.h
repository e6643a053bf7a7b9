// Runs the plans of all ranks with symbols in place of numbers, and says what is wrong with them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/plan.h"

namespace rota::testing {

struct ProofOptions {
  // Buffered: a message is a copy taken when it starts. In place: it is the sender's own memory,
  // read when the receiver takes it, and may not change before. A plan must be right under both.
  enum class Wire { kBuffered, kInPlace };
  Wire wire = Wire::kBuffered;
  std::uint64_t seed = 0;  // Picks the order in which ranks and lanes get their turns.
};

// `plans` in rank order. Empty if every element ends with what the collective promises (for
// reductions: each rank's contribution exactly once, scaled exactly once), no step waits for ever,
// nothing is overwritten that is still being sent, and the chunks cover the values exactly once.
// Otherwise a sentence that names rank, lane, step or chunk.
std::optional<std::string> find_flaw(const std::vector<collectives::Plan>& plans,
                                     const collectives::PlanRequest& request,
                                     const ProofOptions& options);

}  // namespace rota::testing

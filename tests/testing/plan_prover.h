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

// `plans` and `requests` in rank order, 64 ranks at most. Empty if every element ends with what the
// collective promises (for reductions: each rank's contribution exactly once, scaled exactly once),
// no step waits for ever, no input is written, nothing is overwritten that is still being sent, and
// no step leaves its buffer. Otherwise a sentence that names rank, lane, step or element.
std::optional<std::string> find_flaw(const std::vector<collectives::Plan>& plans,
                                     const std::vector<collectives::PlanRequest>& requests,
                                     const ProofOptions& options);

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

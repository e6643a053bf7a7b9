// Selects the plans to measure, and the winner among the measured plans. All functions are pure.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "communicator/tuned_table.h"

namespace rota::bench {

// Times of the slowest rank.
struct Times {
  double median_seconds = 0;
  double least_seconds = 0;
};

// A plan of an all-reduce of one size.
struct Candidate {
  collectives::Algorithm algorithm = collectives::Algorithm::kRing;
  double predicted_seconds = 0;
  std::optional<Times> measured{};  // Empty: the plan was not run.
};

struct Size {
  std::size_t bytes = 0;
  collectives::Algorithm by_default = collectives::Algorithm::kRing;
  std::vector<Candidate> candidates{};
};

// Returns the plans of an all-reduce that the ranks can run. With `same_bits`, only plans that give
// the bits of the ring.
std::vector<collectives::Algorithm> plans_of_all_reduce(bool shares_memory, bool same_bits);

// Returns the candidates to measure: the default, the `count` candidates with the fastest
// predictions, and all candidates that are predicted to be nearly as fast as the slowest of those
// `count`.
std::vector<collectives::Algorithm> worth_a_run(const Size& size, std::size_t count);

// Returns the fastest measured candidate, or the default if it is at most `margin` slower. The
// default must be measured.
collectives::Algorithm winner_of(const Size& size, double margin);

// Returns the time of the default / the time of the fastest candidate.
double default_by_fastest(const Size& size);

// Returns the rows of a tuned file. Between two sizes, the winner of the smaller size applies up to
// their geometric mean. `sizes` must not be empty, and must ascend.
std::vector<TunedTable::Row> rows_of(const std::vector<Size>& sizes, double margin);

}  // namespace rota::bench

// Which plans are worth a run, and which of those that were run is kept. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "communicator/tuned_table.h"

namespace rota::bench {

// Of the slowest rank.
struct Times {
  double median_seconds = 0;
  double least_seconds = 0;
};

// A plan of an all-reduce of one size.
struct Candidate {
  collectives::Algorithm algorithm = collectives::Algorithm::kRing;
  double predicted_seconds = 0;
  std::optional<Times> measured{};  // Empty: it was not run.
};

struct Size {
  std::size_t bytes = 0;
  collectives::Algorithm by_default = collectives::Algorithm::kRing;
  std::vector<Candidate> candidates{};
};

// The plans of an all-reduce, as far as ranks can run them; those with the ring's bits alone where
// `same_bits`.
std::vector<collectives::Algorithm> plans_of_all_reduce(bool shares_memory, bool same_bits);

// Of the candidates, which are worth a run: the default, the `count` that are predicted to be the
// fastest, and whatever is predicted to be nearly as fast as the last of them.
std::vector<collectives::Algorithm> worth_a_run(const Size& size, std::size_t count);

// The fastest that was measured; the default where it is less than `margin` slower. Requires that
// the default was.
collectives::Algorithm winner_of(const Size& size, double margin);

// How many times as long as the fastest one the default took.
double default_by_fastest(const Size& size);

// What a tuned file says: between two sizes, the smaller one's winner up to their geometric mean.
// `sizes` are not empty, and ascend.
std::vector<TunedTable::Row> rows_of(const std::vector<Size>& sizes, double margin);

}  // namespace rota::bench

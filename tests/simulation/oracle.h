// Judges how the ranks of a world ended: each with the right values, or with a true error.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <rota/error.h>

#include "simulation/scenario.h"

namespace rota::simulation {

struct Outcome {
  bool is_over = false;
  std::optional<Error> error;
};

struct Ending {
  std::vector<Outcome> outcomes;  // Index = rank.
  bool has_failed = false;        // Some rank has failed, as the scenario says.
  bool is_before_last = false;    // The failure came before the last call, a barrier.
};

class Oracle {
 public:
  Oracle(const Scenario& scenario, const Ending& ending) : scenario_(scenario), ending_(ending) {}

  // Returns what is wrong with how a rank ended; nothing if all is right.
  std::optional<std::string> finding(std::size_t rank) const;

 private:
  bool has_failed(std::size_t rank) const { return ending_.has_failed && scenario_.fails(rank); }
  bool has_ended_well(std::size_t rank) const;
  bool keeps_all() const;
  bool is_noticed() const;
  bool ends_in_who_failed(std::size_t rank) const;
  bool is_known_to_all() const;
  bool breaks_all_connections() const;
  std::string wrong_with(std::size_t rank, const Error& error) const;
  std::string wrong_with_words(const Error& error, std::size_t blamed) const;

  const Scenario& scenario_;
  const Ending& ending_;
};

}  // namespace rota::simulation

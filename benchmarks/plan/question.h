// The plan to show: its collective, algorithm and world.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/plan.h"

namespace rota::bench {

struct Question {
  collectives::Collective collective = collectives::Collective::kAllReduce;
  collectives::Algorithm algorithm = collectives::Algorithm::kRing;
  std::size_t world_size = 1;
  std::size_t count = 0;  // Elements, as in collectives::PlanRequest.
  std::size_t root = 0;
  std::vector<std::string> hosts;  // Index = rank; empty: all ranks on one host.
  bool in_place = true;
};

// Returns the plan of each rank; index = rank.
std::vector<collectives::Plan> plans_of(const Question& question);

// Returns the first element of each rank's input; index = rank. Empty if each input has all
// elements.
std::vector<std::size_t> input_offsets_of(const Question& question);

// Returns "all_reduce by ring: 5 ranks, 80 elements, in place"
std::string title_of(const Question& question);

// Returns "1 rank", "2 ranks".
std::string counted(std::size_t count, const std::string& noun);

}  // namespace rota::bench

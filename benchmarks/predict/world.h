// The shape of a world whose hosts are alike: how many hosts and ranks there are, and how switches
// connect the hosts.
#pragma once
#include <cstddef>

#include "predict/prediction.h"

namespace rota::bench {

// A larger world is refused: a prediction keeps several numbers for each rank.
inline constexpr std::size_t kMostPredictedRanks = 100'000;

struct WorldShape {
  std::size_t host_count = 1;
  std::size_t ranks_per_host = 1;
  // The hosts of each switch; the switches are connected by one more switch. 0: all hosts are at
  // one switch.
  std::size_t hosts_per_switch = 0;
  // The rate of all hosts of a switch together / the rate of its cable to the other switches.
  double oversubscription = 1;
};

constexpr std::size_t ranks_of(const WorldShape& shape) noexcept {
  return shape.host_count * shape.ranks_per_host;
}

// Returns a model with the hosts and switches of `shape`, and with the costs of `costs`. Throws
// std::invalid_argument for a shape without ranks or with too many of them. Also throws it if the
// switches have no hosts in equal numbers, or if the oversubscription is less than 1 or not finite.
WorldModel model_of(const WorldShape& shape, const WorldModel& costs);

}  // namespace rota::bench

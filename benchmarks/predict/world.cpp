// Lays the ranks out over the hosts, and the hosts over the switches.
#include "predict/world.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/number_text.h"

namespace rota::bench {
namespace {

// Returns, for each rank, the first rank of its group of `size` ranks.
std::vector<std::size_t> groups_of(std::size_t world_size, std::size_t size) {
  std::vector<std::size_t> firsts(world_size);
  for (std::size_t rank = 0; rank < world_size; ++rank) firsts[rank] = rank / size * size;
  return firsts;
}

void require_ranks(const WorldShape& shape) {
  if (shape.host_count == 0) throw std::invalid_argument("a world of 0 hosts has no ranks");
  if (shape.ranks_per_host == 0) {
    throw std::invalid_argument("a world with 0 ranks on each host has no ranks");
  }
  if (shape.host_count <= kMostPredictedRanks / shape.ranks_per_host) return;
  throw std::invalid_argument("a world of " + std::to_string(shape.host_count) + " hosts with " +
                              std::to_string(shape.ranks_per_host) +
                              " ranks each has too many ranks: at most " +
                              std::to_string(kMostPredictedRanks) + " can be predicted");
}

void require_switches(const WorldShape& shape) {
  const double factor = shape.oversubscription;
  if (!std::isfinite(factor) || factor < 1) {
    throw std::invalid_argument("an oversubscription of " + base::shortest_text(factor) +
                                " is not possible: it is a finite number from 1 on");
  }
  if (shape.hosts_per_switch == 0) {
    if (factor == 1) return;
    throw std::invalid_argument(
        "one switch has no oversubscription: name the hosts of each switch, too");
  }
  if (shape.host_count % shape.hosts_per_switch == 0) return;
  throw std::invalid_argument(std::to_string(shape.host_count) +
                              " hosts cannot be dealt to switches of " +
                              std::to_string(shape.hosts_per_switch) + " hosts each");
}

}  // namespace

WorldModel model_of(const WorldShape& shape, const WorldModel& costs) {
  require_ranks(shape);
  require_switches(shape);
  const std::size_t world_size = ranks_of(shape);
  WorldModel model = costs;
  model.hosts = groups_of(world_size, shape.ranks_per_host);
  model.switches.clear();
  if (shape.hosts_per_switch == 0) return model;
  model.switches = groups_of(world_size, shape.hosts_per_switch * shape.ranks_per_host);
  model.uplink_seconds_per_byte = costs.between_hosts.seconds_per_byte * shape.oversubscription /
                                  static_cast<double>(shape.hosts_per_switch);
  return model;
}

}  // namespace rota::bench

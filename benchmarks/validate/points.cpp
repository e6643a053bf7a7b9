// Combines rates, hosts, plans, sizes and models.
#include "validate/points.h"

#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/counted.h"
#include "collectives/sizes.h"
#include "scale/row.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

struct PointSet {
  std::string name;
  std::vector<std::pair<std::size_t, std::string>> sizes;  // By Mbit/s.
  std::vector<std::size_t> hosts;
  std::vector<std::size_t> ranks_per_host;
  std::vector<std::string> models;
  std::vector<Scaling> scalings;
};

std::vector<PointSet> all_sets() {
  return {{.name = "whole",
           .sizes = {{1000, "1K:16M:x4"}, {100, "1K:1M:x4"}},
           .hosts = {2, 3, 4, 6, 8},
           .ranks_per_host = {1, 2},
           .models = {"lenet", "mlp"},
           .scalings = {Scaling::kWeak, Scaling::kStrong}},
          {.name = "short",
           .sizes = {{1000, "1K,64K,1M"}, {100, "1K,64K"}},
           .hosts = {2, 4, 8},
           .ranks_per_host = {1, 2},
           .models = {"lenet", "mlp"},
           .scalings = {Scaling::kWeak}},
          {.name = "few",
           .sizes = {{1000, "1K,64K"}},
           .hosts = {2, 3},
           .ranks_per_host = {1},
           .models = {"mlp"},
           .scalings = {Scaling::kWeak}}};
}

// Returns six plans. Two of them look at hosts if ranks share hosts. Otherwise these two would do
// what other plans do, and the two in their place send all values to one rank.
std::array<Algorithm, 6> validated_plans(std::size_t ranks_per_host) {
  const bool share_hosts = ranks_per_host > 1;
  return {Algorithm::kRing,
          Algorithm::kDirect,
          Algorithm::kHalvingDoubling,
          Algorithm::kTree,
          share_hosts ? Algorithm::kTwoLevel : Algorithm::kHub,
          share_hosts ? Algorithm::kByHost : Algorithm::kStar};
}

void add_points(std::vector<ValidationPoint>& points, const PointSet& set,
                const ValidatedWorld& world, std::span<const std::size_t> sizes) {
  for (const Algorithm plan : validated_plans(world.ranks_per_host)) {
    for (const std::size_t bytes : sizes) {
      points.push_back({.world = world, .plan = plan, .bytes = bytes});
    }
  }
  for (const std::string& model : set.models) {
    for (const Scaling scaling : set.scalings) {
      points.push_back({.world = world, .model = model, .scaling = scaling});
    }
  }
}

std::vector<ValidationPoint> points_of(const PointSet& set) {
  std::vector<ValidationPoint> points;
  for (const auto& [megabits, sizes] : set.sizes) {
    const std::vector<std::size_t> all_sizes = parse_sizes(sizes);
    for (const std::size_t hosts : set.hosts) {
      for (const std::size_t ranks_per_host : set.ranks_per_host) {
        add_points(points, set, {megabits, hosts, ranks_per_host}, all_sizes);
      }
    }
  }
  return points;
}

std::string text_of(const ValidatedWorld& world) {
  return std::to_string(world.hosts) + " hosts of " + base::counted_ranks(world.ranks_per_host) +
         ", " + rate_text(static_cast<double>(world.megabits));
}

}  // namespace

std::string name_of(const ValidationPoint& point) {
  const std::string what =
      point.is_training()
          ? point.model + ", " + to_string(point.scaling) + " scaling, "
          : std::string(to_string(point.plan)) + ", " + to_words(point.bytes) + ", ";
  return what + text_of(point.world);
}

std::vector<ValidationPoint> points_named(const std::string& set) {
  std::string names;
  for (const PointSet& each : all_sets()) {
    if (each.name == set) return points_of(each);
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw std::invalid_argument("--points: there are no points '" + set + "'; there are " + names);
}

}  // namespace rota::bench

// The points at which predictions are held against measurements: worlds of two to eight hosts, and
// what their ranks do.
#pragma once
#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/plan.h"
#include "scale/contest.h"

namespace rota::bench {

// A world of equal hosts at one switch.
struct ValidatedWorld {
  std::size_t megabits = 0;  // The rate of the cable of each host.
  std::size_t hosts = 0;
  std::size_t ranks_per_host = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 in a comparison for a pointer.
  friend auto operator<=>(const ValidatedWorld&, const ValidatedWorld&) = default;

  std::size_t ranks() const noexcept { return hosts * ranks_per_host; }
};

// An all-reduce of float32 by one plan; or, if `model` is not empty, paced training steps.
struct ValidationPoint {
  ValidatedWorld world{};
  collectives::Algorithm plan = collectives::Algorithm::kRing;
  std::size_t bytes = 0;
  std::string model{};
  Scaling scaling = Scaling::kWeak;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 in a comparison for a pointer.
  friend auto operator<=>(const ValidationPoint&, const ValidationPoint&) = default;

  bool is_training() const noexcept { return !model.empty(); }
};

// Returns the point's name: "tree, 64 KiB, 6 hosts of 2 ranks, 1 Gbit/s" or "lenet, weak scaling, 8
// hosts of 1 rank, 100 Mbit/s".
std::string name_of(const ValidationPoint& point);

// Returns the points of a set, world by world: "whole"; "short", which takes less time; or "few",
// with which a test tries that all parts work together. Throws std::invalid_argument for another
// name.
std::vector<ValidationPoint> points_named(const std::string& set);

}  // namespace rota::bench

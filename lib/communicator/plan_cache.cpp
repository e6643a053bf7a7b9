// Makes a plan the first time that it is asked for.
#include "communicator/plan_cache.h"

#include <utility>

namespace rota {

std::size_t PlanCache::Hash::operator()(const PlanKey& key) const noexcept {
  const std::size_t kind = static_cast<std::size_t>(key.collective) |
                           static_cast<std::size_t>(key.algorithm) << 4 |
                           static_cast<std::size_t>(key.type) << 8 |
                           static_cast<std::size_t>(key.op) << 12 | key.root << 16;
  return std::hash<std::size_t>()(key.count * 0x9e3779b97f4a7c15ULL ^ kind);
}

const PlannedCollective& PlanCache::find_or_make(const PlanKey& key) {
  auto& entry = plans_[key];
  if (!entry) {
    PlannedCollective planned{collectives::make_plan({.collective = key.collective,
                                                      .algorithm = key.algorithm,
                                                      .rank = rank_,
                                                      .world_size = world_size_,
                                                      .count = key.count,
                                                      .root = key.root}),
                              collectives::Reducer(variant_, key.type, key.op, world_size_)};
    entry = std::make_unique<PlannedCollective>(std::move(planned));
  }
  return *entry;
}

}  // namespace rota

// A hash table by all that a plan depends on.
#include "communicator/plan_cache.h"

#include <utility>

namespace rota {

std::size_t PlanCache::Hash::operator()(const PlanKey& key) const noexcept {
  std::size_t hash = 0;
  const auto mix = [&](std::size_t word) {
    hash = (hash ^ word) * static_cast<std::size_t>(0x9e3779b97f4a7c15ULL);
    hash ^= hash >> (sizeof hash * 4);
  };
  mix(static_cast<std::size_t>(key.collective));
  mix(static_cast<std::size_t>(key.algorithm));
  mix(static_cast<std::size_t>(key.type));
  mix(key.in_place ? 1 : 0);
  mix(static_cast<std::size_t>(key.codec));
  mix(key.feeds_back ? 1 : 0);
  mix(static_cast<std::size_t>(key.reduction.op()));
  mix(std::hash<double>()(key.reduction.factor()));
  mix(key.count);
  mix(key.root);
  return hash;
}

const std::shared_ptr<const PlannedCollective>* PlanCache::find(const PlanKey& key) const {
  if (!last_ || last_->first != key) {
    const auto found = plans_.find(key);
    if (found == plans_.end()) return nullptr;
    last_ = &*found;
  }
  return &last_->second;
}

void PlanCache::keep(const PlanKey& key, std::shared_ptr<const PlannedCollective> planned) {
  if (plans_.size() >= kCapacity) plans_.clear();
  plans_[key] = std::move(planned);
  last_ = nullptr;
}

}  // namespace rota

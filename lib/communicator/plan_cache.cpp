// A hash table by all that a plan depends on.
#include "communicator/plan_cache.h"

#include <utility>

namespace rota {

const std::shared_ptr<const PlannedCollective>* PlanCache::find(
    const collectives::Description& call) const {
  if (!last_ || last_->first != call) {
    const auto found = plans_.find(call);
    if (found == plans_.end()) return nullptr;
    last_ = &*found;
  }
  return &last_->second;
}

void PlanCache::keep(std::shared_ptr<const PlannedCollective> planned) {
  if (plans_.size() >= kCapacity) plans_.clear();
  const collectives::Description& call = planned->call;
  plans_[call] = std::move(planned);
  last_ = nullptr;
}

}  // namespace rota

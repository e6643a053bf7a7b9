// Plans that were made before, found again without an allocation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include <rota/memory.h>

#include "collectives/coder.h"
#include "collectives/description.h"
#include "collectives/plan.h"
#include "collectives/reducer.h"

namespace rota {

// A call that can run, as often as it comes again.
struct PlannedCollective {
  // Indices of the group's methods.
  static constexpr std::uint8_t kPlans = 0;
  static constexpr std::uint8_t kShared = 1;

  collectives::Description call{};
  collectives::Signature signature{};  // But for the sequence.
  collectives::Plan plan{};
  collectives::Reducer reducer;
  collectives::Coder coder;
  Block scratch{};
  Block coded{};
  std::uint8_t method = kPlans;
  std::size_t value_bytes = 0;  // Of the memory that the caller lends.
  std::size_t input_bytes = 0;
};

class PlanCache {
 public:
  // Null where there is none. Stays valid until keep().
  const std::shared_ptr<const PlannedCollective>* find(const collectives::Description& call) const;

  // Drops all others where there are too many: a program that never uses a count twice would fill
  // the memory with plans.
  void keep(std::shared_ptr<const PlannedCollective> planned);

 private:
  static constexpr std::size_t kCapacity = 1024;

  struct Hash {
    std::size_t operator()(const collectives::Description& call) const noexcept {
      return collectives::hash_of(call);
    }
  };

  using Plans =
      std::unordered_map<collectives::Description, std::shared_ptr<const PlannedCollective>, Hash>;
  Plans plans_;
  mutable const Plans::value_type* last_ = nullptr;  // That was found: often it is the next, too.
};

}  // namespace rota

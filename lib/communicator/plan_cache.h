// Plans that were made before, found again without an allocation.
#pragma once
#include <cstddef>
#include <memory>
#include <unordered_map>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "collectives/plan.h"
#include "collectives/reducer.h"

namespace rota {

struct PlanKey {
  collectives::Collective collective = collectives::Collective::kBarrier;
  collectives::Algorithm algorithm = collectives::Algorithm::kRing;
  DataType type = DataType::kByte;
  ReduceOp op = ReduceOp::kSum;
  std::size_t count = 0;
  std::size_t root = 0;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

struct PlannedCollective {
  collectives::Plan plan;
  collectives::Reducer reducer;
};

class PlanCache {
 public:
  PlanCache(std::size_t rank, std::size_t world_size, const kernels::Variant& variant) noexcept
      : rank_(rank), world_size_(world_size), variant_(variant) {}

  // Stays valid until clear().
  const PlannedCollective& find_or_make(const PlanKey& key);

  // A program that never uses a count twice would fill the memory with plans.
  bool full() const noexcept { return plans_.size() >= 1024; }
  void clear() noexcept { plans_.clear(); }

 private:
  struct Hash {
    std::size_t operator()(const PlanKey& key) const noexcept;
  };

  std::size_t rank_;
  std::size_t world_size_;
  const kernels::Variant& variant_;
  std::unordered_map<PlanKey, std::unique_ptr<PlannedCollective>, Hash> plans_;
};

}  // namespace rota

// Picks the kernels of a type and a reduction.
#include "collectives/reducer.h"

namespace rota::collectives {
namespace {

double mean_factor_of(DataType type, std::size_t world_size) noexcept {
  return type == DataType::kFloat64 ? 1.0 / static_cast<double>(world_size)
                                    : 1.0F / static_cast<float>(world_size);
}

}  // namespace

Reducer::Reducer(const kernels::Variant& variant, DataType type, const Reduction& reduction,
                 std::size_t world_size) noexcept
    : combine_(variant.combine(
          type, reduction.op() == ReduceOp::kMean ? ReduceOp::kSum : reduction.op())),
      combine_last_(variant.combine(type, reduction.op())),
      scale_(reduction.factor() != 1 ? variant.scale(type) : nullptr),
      mean_factor_(mean_factor_of(type, world_size)),
      pre_factor_(reduction.factor()),
      element_bytes_(bytes_of(type)) {}

}  // namespace rota::collectives

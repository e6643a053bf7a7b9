// Selects the kernels for a data type and a reduction.
#include "collectives/reducer.h"

namespace rota::collectives {
namespace {

double mean_factor_of(DataType type, std::size_t world_size) noexcept {
  return type == DataType::kFloat64 ? 1.0 / static_cast<double>(world_size)
                                    : 1.0F / static_cast<float>(world_size);
}

}  // namespace

Reducer::Reducer(const kernels::Reductions& reductions, DataType type, const Reduction& reduction,
                 std::size_t world_size) noexcept
    : combine_(reductions.combine(type, op_of_addition(reduction.op(), false))),
      combine_last_(reductions.combine(type, reduction.op())),
      combine_few_(kernels::reference<kernels::Reductions>().combine(
          type, op_of_addition(reduction.op(), false))),
      combine_few_last_(kernels::reference<kernels::Reductions>().combine(type, reduction.op())),
      combine_to_both_(reductions.combine_to_both(type, reduction.op())),
      scale_(reductions.scale(type)),
      mean_factor_(mean_factor_of(type, world_size)),
      pre_factor_(reduction.factor()),
      element_bytes_(bytes_of(type)) {}

}  // namespace rota::collectives

// Selects the kernels for a data type and a reduction.
#include "collectives/reducer.h"

#include <bit>

namespace rota::collectives {
namespace {

// Returns the factor of each rank. A sum of `terms` Float16 may be infinite although their mean is
// not, so each rank first multiplies its values. The factor is a power of two: it changes the
// exponents of values and sums, and not their digits, unless they become subnormal.
double pre_factor_of(DataType type, const Reduction& reduction, std::size_t terms) noexcept {
  const bool may_overflow = type == DataType::kFloat16 && reduction.op() == ReduceOp::kMean;
  return may_overflow ? 1.0 / static_cast<double>(std::bit_ceil(terms)) : reduction.factor();
}

double mean_factor_of(DataType type, std::size_t world_size, double pre_factor) noexcept {
  const double share = type == DataType::kFloat64 ? 1.0 / static_cast<double>(world_size)
                                                  : 1.0F / static_cast<float>(world_size);
  return share / pre_factor;  // Exact, as the divisor is a power of two.
}

}  // namespace

Reducer::Reducer(const kernels::Reductions& reductions, DataType type, const Reduction& reduction,
                 std::size_t world_size, bool stores_sum) noexcept
    : combine_(reductions.combine(type, op_of_addition(reduction.op(), false))),
      combine_last_(reductions.combine(type, reduction.op())),
      combine_few_(kernels::reference<kernels::Reductions>().combine(
          type, op_of_addition(reduction.op(), false))),
      combine_few_last_(kernels::reference<kernels::Reductions>().combine(type, reduction.op())),
      combine_to_both_(reductions.combine_to_both(type, reduction.op())),
      scale_(reductions.scale(type)),
      pre_factor_(pre_factor_of(type, reduction, stores_sum ? world_size : world_size - 1)),
      mean_factor_(reduction.op() == ReduceOp::kMean ? mean_factor_of(type, world_size, pre_factor_)
                                                     : 1),
      element_bytes_(bytes_of(type)) {}

}  // namespace rota::collectives

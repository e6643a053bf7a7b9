// Combines received values with local values: the kernels of one data type and one reduction,
// chosen once.
#pragma once
#include <array>
#include <cstddef>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "kernels/reductions.h"

namespace rota::collectives {

// Returns the operation of an addition. All additions of a mean except the last one make a sum.
constexpr ReduceOp op_of_addition(ReduceOp op, bool last) noexcept {
  return op == ReduceOp::kMean && !last ? ReduceOp::kSum : op;
}

class Reducer {
 public:
  // If why_not(reduction, type) refuses the pair, add and pre_scale must not be called.
  // `stores_sum`: the sum of all ranks is rounded to `type`, and then scale_to_mean() makes the
  // mean. Otherwise the last addition makes the mean, and only sums of fewer ranks are rounded.
  Reducer(const kernels::Reductions& reductions, DataType type, const Reduction& reduction,
          std::size_t world_size, bool stores_sum = false) noexcept;

  // Sets accumulator = accumulator op input, for `count` elements. `last`: this is the last
  // addition, and a mean is scaled in the same pass.
  void add(std::byte* accumulator, const std::byte* input, std::size_t count,
           bool last) const noexcept {
    (last ? combine_last_ : combine_)(accumulator, input, count, mean_factor_);
  }

  // Adds as add() does, with the same bits, for so few elements that vector instructions cost more
  // than they save.
  void add_few(std::byte* accumulator, const std::byte* input, std::size_t count,
               bool last) const noexcept {
    (last ? combine_few_last_ : combine_few_)(accumulator, input, count, mean_factor_);
  }

  // Adds in a world of two: each output = first input op second input. An output may be an input,
  // and both outputs may be the same.
  void add_to_both(const std::array<const std::byte*, 2>& inputs,
                   const std::array<std::byte*, 2>& outputs, std::size_t count) const noexcept {
    combine_to_both_(outputs[0], outputs[1], inputs[0], inputs[1], count, mean_factor_);
  }

  // The next functions are about the factor of this rank: that of a pre-scaled sum, or the one that
  // keeps the sums of a mean of Float16 finite. A rank multiplies its own values by this factor
  // once, before any rank adds them.
  bool needs_pre_scale() const noexcept { return pre_factor_ != 1; }
  double pre_factor() const noexcept { return pre_factor_; }
  void pre_scale(std::byte* values, std::size_t count) const noexcept {
    pre_scale(values, count, pre_factor_);
  }
  // Scales as pre_scale() does, for a rank with factor `factor`.
  void pre_scale(std::byte* values, std::size_t count, double factor) const noexcept {
    if (factor != 1) scale_(values, count, factor);
  }

  // Makes means of sums: multiplies by 1 / world_size, divided by the factor of a rank.
  void scale_to_mean(std::byte* sums, std::size_t count) const noexcept {
    scale_(sums, count, mean_factor_);
  }

  std::size_t element_bytes() const noexcept { return element_bytes_; }
  double mean_factor() const noexcept { return mean_factor_; }

 private:
  kernels::Combine combine_;
  kernels::Combine combine_last_;
  kernels::Combine combine_few_;
  kernels::Combine combine_few_last_;
  kernels::CombineToBoth combine_to_both_;
  kernels::Scale scale_;  // Null if the type has no factors.
  double pre_factor_;     // Of this rank.
  double mean_factor_;    // Of a mean, rounded to the type of the computation; otherwise 1.
  std::size_t element_bytes_;
};

}  // namespace rota::collectives

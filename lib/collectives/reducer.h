// Combines what arrived with what is here: kernels, chosen once for a type and a reduction.
#pragma once
#include <array>
#include <cstddef>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "kernels/reductions.h"

namespace rota::collectives {

class Reducer {
 public:
  // Of what why_not(reduction, type) refuses, neither add nor pre_scale may be called.
  Reducer(const kernels::Reductions& reductions, DataType type, const Reduction& reduction,
          std::size_t world_size) noexcept;

  // accumulator = accumulator op input. `last` says that nothing more comes: a mean is scaled in
  // the same pass.
  void add(std::byte* accumulator, const std::byte* input, std::size_t count,
           bool last) const noexcept {
    (last ? combine_last_ : combine_)(accumulator, input, count, mean_factor_);
  }

  // The same of so few elements that vectors would not pay, with the same bits.
  void add_few(std::byte* accumulator, const std::byte* input, std::size_t count,
               bool last) const noexcept {
    (last ? combine_few_last_ : combine_few_)(accumulator, input, count, mean_factor_);
  }

  // Of a world of two: both outputs = the one input op the other. An output may be an input,
  // and both may be one.
  void add_to_both(const std::array<const std::byte*, 2>& inputs,
                   const std::array<std::byte*, 2>& outputs, std::size_t count) const noexcept {
    combine_to_both_(outputs[0], outputs[1], inputs[0], inputs[1], count, mean_factor_);
  }

  // What a rank does to its own values, once and before anyone adds them, if they need it.
  bool needs_pre_scale() const noexcept { return pre_factor_ != 1; }
  double pre_factor() const noexcept { return pre_factor_; }
  void pre_scale(std::byte* values, std::size_t count) const noexcept {
    pre_scale(values, count, pre_factor_);
  }
  // The same for a rank that has this factor.
  void pre_scale(std::byte* values, std::size_t count, double factor) const noexcept {
    if (factor != 1) scale_(values, count, factor);
  }

  std::size_t element_bytes() const noexcept { return element_bytes_; }

 private:
  kernels::Combine combine_;
  kernels::Combine combine_last_;
  kernels::Combine combine_few_;
  kernels::Combine combine_few_last_;
  kernels::CombineToBoth combine_to_both_;
  kernels::Scale scale_;  // Null where a type has no factors.
  double mean_factor_;    // Exactly 1 / world_size as the numbers that are computed with have it.
  double pre_factor_;
  std::size_t element_bytes_;
};

}  // namespace rota::collectives

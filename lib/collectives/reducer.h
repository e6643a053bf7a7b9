// Combines what arrived with what is here: kernels, chosen once for a type and a reduction.
#pragma once
#include <cstddef>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "kernels/kernels.h"

namespace rota::collectives {

class Reducer {
 public:
  // Of what why_not(reduction, type) refuses, neither add nor pre_scale may be called.
  Reducer(const kernels::Variant& variant, DataType type, const Reduction& reduction,
          std::size_t world_size) noexcept;

  // accumulator = accumulator op input. `last` says that nothing more comes: a mean is scaled in
  // the same pass.
  void add(std::byte* accumulator, const std::byte* input, std::size_t count,
           bool last) const noexcept {
    (last ? combine_last_ : combine_)(accumulator, input, count, mean_factor_);
  }

  // What a rank does to its own values, once and before anyone adds them, if they need it.
  bool needs_pre_scale() const noexcept { return scale_ != nullptr; }
  void pre_scale(std::byte* values, std::size_t count) const noexcept {
    if (scale_) scale_(values, count, pre_factor_);
  }

  std::size_t element_bytes() const noexcept { return element_bytes_; }

 private:
  kernels::Combine combine_;
  kernels::Combine combine_last_;
  kernels::Scale scale_;
  double mean_factor_;  // Exactly 1 / world_size as the numbers that are computed with have it.
  double pre_factor_;
  std::size_t element_bytes_;
};

}  // namespace rota::collectives

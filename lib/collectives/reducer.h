// Adds what arrived to what is here: a kernel, chosen once for a type and an operation.
#pragma once
#include <cstddef>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "kernels/kernels.h"

namespace rota::collectives {

class Reducer {
 public:
  Reducer(const kernels::Variant& variant, DataType type, ReduceOp op,
          std::size_t world_size) noexcept;

  // accumulator += input. `last` says that nothing more comes: a mean is scaled in the same pass.
  void add(std::byte* accumulator, const std::byte* input, std::size_t count,
           bool last) const noexcept {
    (last ? add_last_ : add_)(*this, accumulator, input, count);
  }

  std::size_t element_bytes() const noexcept { return element_bytes_; }

 private:
  using Add = void (*)(const Reducer&, std::byte*, const std::byte*, std::size_t) noexcept;
  template <class T>
  static void plain(const Reducer&, std::byte*, const std::byte*, std::size_t) noexcept;
  template <class T>
  static void scaled(const Reducer&, std::byte*, const std::byte*, std::size_t) noexcept;

  const kernels::Variant* variant_;
  std::size_t element_bytes_;
  double factor_;  // Exactly 1 / world_size as the values' type has it.
  Add add_ = nullptr;
  Add add_last_ = nullptr;
};

}  // namespace rota::collectives

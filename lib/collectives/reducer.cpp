// Binds the kernels to a type and an operation.
#include "collectives/reducer.h"

namespace rota::collectives {

template <class T>
void Reducer::plain(const Reducer& self, std::byte* accumulator, const std::byte* input,
                    std::size_t count) noexcept {
  self.variant_->arithmetic<T>().add(reinterpret_cast<T*>(accumulator),
                                     reinterpret_cast<const T*>(input), count);
}

template <class T>
void Reducer::scaled(const Reducer& self, std::byte* accumulator, const std::byte* input,
                     std::size_t count) noexcept {
  self.variant_->arithmetic<T>().add_scale(reinterpret_cast<T*>(accumulator),
                                           reinterpret_cast<const T*>(input), count,
                                           static_cast<T>(self.factor_));
}

Reducer::Reducer(const kernels::Variant& variant, DataType type, ReduceOp op,
                 std::size_t world_size) noexcept
    : variant_(&variant),
      element_bytes_(bytes_of(type)),
      factor_(type == DataType::kFloat32 ? 1.0F / static_cast<float>(world_size)
                                         : 1.0 / static_cast<double>(world_size)) {
  const bool mean = op == ReduceOp::kMean;
  if (type == DataType::kFloat32) {
    add_ = plain<float>;
    add_last_ = mean ? scaled<float> : plain<float>;
  } else if (type == DataType::kFloat64) {
    add_ = plain<double>;
    add_last_ = mean ? scaled<double> : plain<double>;
  }
}

}  // namespace rota::collectives

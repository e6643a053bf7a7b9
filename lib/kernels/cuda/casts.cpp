// Has the kernels that convert floating-point numbers to another type.
#include "kernels/cuda/casts.h"

#include "kernels/cuda/tables.h"

namespace rota::kernels::cuda {
namespace {

using Half = cpu::Float16Lanes;
using Brain = cpu::Bfloat16Lanes;
using Single = cpu::Same<float>;
using Double = cpu::Same<double>;

template <class From>
void add_of(TypeLaunches& launches) noexcept {
  const auto add = [&](DataType to, Cast kernel) {
    launches.cast_to[static_cast<std::size_t>(to)] = kernel;
  };
  if constexpr (!std::is_same_v<From, Half>) add(DataType::kFloat16, cast<Half, From>);
  if constexpr (!std::is_same_v<From, Brain>) add(DataType::kBfloat16, cast<Brain, From>);
  if constexpr (!std::is_same_v<From, Single>) add(DataType::kFloat32, cast<Single, From>);
  if constexpr (!std::is_same_v<From, Double>) add(DataType::kFloat64, cast<Double, From>);
}

}  // namespace

void add_casts(Launches& launches) noexcept {
  add_of<Half>(launches_of(launches, DataType::kFloat16));
  add_of<Brain>(launches_of(launches, DataType::kBfloat16));
  add_of<Single>(launches_of(launches, DataType::kFloat32));
  add_of<Double>(launches_of(launches, DataType::kFloat64));
}

}  // namespace rota::kernels::cuda

// Has the kernels that combine and scale floating-point numbers.
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/tables.h"

namespace rota::kernels::cuda {
namespace {

// The entries have the order of ReduceOp.
template <class Format, auto kInfinity>
void add_of_floats(TypeLaunches& launches) noexcept {
  using Bits = cpu::Same<decltype(kInfinity)>;
  const Reduce all[kReduceOpCount] = {reduce<Format, cpu::Sum>,
                                      reduce<Format, cpu::Sum, cpu::Mean<typename Format::Number>>,
                                      reduce<Format, cpu::Product>,
                                      reduce<Bits, cpu::ByBits<kInfinity, cpu::Min>>,
                                      reduce<Bits, cpu::ByBits<kInfinity, cpu::Max>>,
                                      nullptr,
                                      nullptr,
                                      nullptr};
  for (std::size_t op = 0; op < kReduceOpCount; ++op) launches.reduce[op] = all[op];
  launches.scale = scale<Format>;
}

}  // namespace

void add_float_reductions(Launches& launches) noexcept {
  add_of_floats<cpu::Float16Lanes, std::int16_t{0x7c00}>(launches_of(launches, DataType::kFloat16));
  add_of_floats<cpu::Bfloat16Lanes, std::int16_t{0x7f80}>(
      launches_of(launches, DataType::kBfloat16));
  add_of_floats<cpu::Same<float>, std::int32_t{0x7f80'0000}>(
      launches_of(launches, DataType::kFloat32));
  add_of_floats<cpu::Same<double>, std::int64_t{0x7ff0'0000'0000'0000}>(
      launches_of(launches, DataType::kFloat64));
}

}  // namespace rota::kernels::cuda

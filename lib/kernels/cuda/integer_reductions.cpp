// Has the kernels that combine integers.
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/tables.h"

namespace rota::kernels::cuda {
namespace {

// The entries have the order of ReduceOp. Integers whose results may overflow are unsigned, so the
// two types of a size share these kernels.
template <class T>
void add_of_integers(TypeLaunches& launches) noexcept {
  using Unsigned = cpu::Same<std::make_unsigned_t<T>>;
  const Reduce all[kReduceOpCount] = {
      reduce<Unsigned, cpu::Sum>,         nullptr,
      reduce<Unsigned, cpu::Product>,     reduce<cpu::Same<T>, cpu::Min>,
      reduce<cpu::Same<T>, cpu::Max>,     reduce_bits<cpu::BitAnd, sizeof(T)>,
      reduce_bits<cpu::BitOr, sizeof(T)>, reduce_bits<cpu::BitXor, sizeof(T)>};
  for (std::size_t op = 0; op < kReduceOpCount; ++op) launches.reduce[op] = all[op];
}

}  // namespace

void add_integer_reductions(Launches& launches) noexcept {
  add_of_integers<std::int8_t>(launches_of(launches, DataType::kInt8));
  add_of_integers<std::uint8_t>(launches_of(launches, DataType::kUint8));
  add_of_integers<std::int32_t>(launches_of(launches, DataType::kInt32));
  add_of_integers<std::int64_t>(launches_of(launches, DataType::kInt64));
}

}  // namespace rota::kernels::cuda

// Has the kernels of codecs.
#include "kernels/codings.h"

#include "kernels/cuda/half_codings.h"
#include "kernels/cuda/int8_codings.h"
#include "kernels/cuda/tables.h"
#include "kernels/cuda/top_k_codings.h"

namespace rota::kernels::cuda {
namespace {

template <class Half>
constexpr CodingLaunches kOfHalves = {encode_halves<Half>, decode_halves<Half>,
                                      combine_halves<Half, cpu::Add>,
                                      combine_halves<Half, cpu::Lose>};

template <bool kStochastic>
constexpr CodingLaunches kOfInt8 = {encode_int8<kStochastic>, decode_int8<cpu::Take>,
                                    decode_int8<cpu::Add>, decode_int8<cpu::Lose>};

constexpr CodingLaunches kOfTopK = {encode_top_k, decode_top_k<cpu::Take>, decode_top_k<cpu::Add>,
                                    decode_top_k<cpu::Lose>};

}  // namespace

void add_codings(Launches& launches) noexcept {
  const auto add = [&](Codec codec, const CodingLaunches& kernels) {
    launches.codecs[static_cast<std::size_t>(codec)] = kernels;
  };
  add(Codec::kBfloat16, kOfHalves<cpu::Bfloat16Lanes>);
  add(Codec::kFloat16, kOfHalves<cpu::Float16Lanes>);
  add(Codec::kInt8, kOfInt8<false>);
  add(Codec::kInt8Stochastic, kOfInt8<true>);
  add(Codec::kTopK, kOfTopK);
}

}  // namespace rota::kernels::cuda

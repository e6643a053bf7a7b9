// Puts together what the loops make of one instruction set. Included once by the file of each,
// which first defines what loops.h and coding_loops.h want.
#pragma once
#include "kernels/cpu/coding_loops.h"
#include "kernels/cpu/loops.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

constexpr Variant make_variant(const char* name, bool (*supported)() noexcept) noexcept {
  return {name,
          supported,
          copy,
          {{},  // Bytes can be moved, not reduced.
           kFloats<Float16Lanes, std::int16_t{0x7c00}>,
           kFloats<Bfloat16Lanes, std::int16_t{0x7f80}>,
           kFloats<Same<float>, std::int32_t{0x7f80'0000}>,
           kFloats<Same<double>, std::int64_t{0x7ff0'0000'0000'0000}>,
           kIntegers<std::int8_t>,
           kIntegers<std::uint8_t>,
           kIntegers<std::int32_t>,
           kIntegers<std::int64_t>},
          {{},  // What travels as it is, is not coded.
           kCoding<OfHalves<Bfloat16InLine>>,
           kCoding<OfHalves<Float16Lanes>>,
           kCoding<OfInt8<false>>,
           kCoding<OfInt8<true>>,
           kCoding<OfTopK>},
          {sgd_update<float>},
          {sgd_update<double>}};
}

}  // namespace
}  // namespace rota::kernels::cpu

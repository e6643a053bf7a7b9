// Defines Lanes, for lanes.h, as a whole register. The file of an instruction set with vectors
// includes this header once, and first defines ROTA_TARGET and, in this namespace, kVectorBytes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

template <class T, std::size_t kBytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes)));
};
template <class T>
using Lanes = typename VectorOf<T, kVectorBytes>::Type;

// Converts each lane to T. There are as many T as a register has lanes of 32 bits.
template <class T, class From>
ROTA_TARGET inline auto converted(From lanes) noexcept {
  using To = typename VectorOf<T, kVectorBytes / sizeof(std::uint32_t) * sizeof(T)>::Type;
  return __builtin_convertvector(lanes, To);
}

}  // namespace
}  // namespace rota::kernels::cpu

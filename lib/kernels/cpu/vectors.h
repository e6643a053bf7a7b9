// Lanes for lanes.h of as many bytes as a register has. Included once by the file of an instruction
// set with vectors, which first defines ROTA_TARGET and, in this namespace, kVectorBytes.
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

// As many T as there are lanes of 32 bits, of as many other numbers.
template <class T, class From>
ROTA_TARGET inline auto converted(From lanes) noexcept {
  using To = typename VectorOf<T, kVectorBytes / sizeof(std::uint32_t) * sizeof(T)>::Type;
  return __builtin_convertvector(lanes, To);
}

}  // namespace
}  // namespace rota::kernels::cpu

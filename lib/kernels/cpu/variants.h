// The variants that select.cpp chooses from, and the scalar loops that finish what whole vectors
// leave over.
#pragma once
#include "kernels/kernels.h"

namespace rota::kernels::cpu {

extern const Variant kScalar;
#if defined(__x86_64__)
extern const Variant kAvx2;
extern const Variant kAvx512;
#endif

// The C library picks its own instructions for the machine it runs on, so all variants share this.
void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

namespace scalar {
template <class T>
void add(T* accumulator, const T* input, std::size_t count) noexcept;
template <class T>
void add_scale(T* accumulator, const T* input, std::size_t count, T factor) noexcept;
template <class T>
void scale(T* values, std::size_t count, T factor) noexcept;
template <class T>
void sgd_update(T* values, T* velocity, const T* gradient, std::size_t count,
                const Hyperparameters<T>& hyperparameters) noexcept;
}  // namespace scalar

}  // namespace rota::kernels::cpu

// The variants that select.cpp chooses from.
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

}  // namespace rota::kernels::cpu

// The variants that select.cpp chooses from.
#pragma once
#include "kernels/kernels.h"

namespace rota::kernels::cpu {

extern const Variant kScalar;
#if defined(__x86_64__)
extern const Variant kAvx2;
extern const Variant kAvx512;
#endif

}  // namespace rota::kernels::cpu

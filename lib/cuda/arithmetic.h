// Has the functions of the table that start kernels.
#pragma once
#include <rota/cuda_calls.h>

namespace rota::cuda {

void add_arithmetic(Calls& calls) noexcept;

}  // namespace rota::cuda

// Has the functions of the table for ranks that share memory.
#pragma once
#include <rota/cuda_calls.h>

namespace rota::cuda {

void add_sharing(Calls& calls) noexcept;

}  // namespace rota::cuda

// Has the functions of the table by which models are trained.
#pragma once
#include <rota/cuda_calls.h>

namespace rota::cuda {

// Fills Calls::models. The products use the table of rota_calls_of_cuda() for their memory.
void add_models(Calls& calls) noexcept;

}  // namespace rota::cuda

// Captures the work of a stream as a graph, which one call repeats.
#pragma once
#include <rota/cuda_calls.h>

namespace rota::cuda {

void add_graphs(Calls& calls) noexcept;

// Returns whether the calling thread captures this stream.
bool is_captured(const On& on) noexcept;

}  // namespace rota::cuda

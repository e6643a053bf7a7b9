// Captures the work of a stream as a graph, which one call repeats.
#pragma once
#include <rota/cuda_calls.h>

namespace rota::cuda {

void add_graphs(Calls& calls) noexcept;

// Returns whether the calling thread captures this stream.
bool is_captured(const On& on) noexcept;

// Returns CUDA's error code if the program captures this stream, and 0 otherwise. What rota would
// add to the stream then belonged to the program's graph, and never happened. The stream's device
// must be the calling thread's.
int find_foreign_capture(const On& on) noexcept;

}  // namespace rota::cuda

// Declares the functions that fill the table of launches.h. Each is in a file of its own, so that
// the files are compiled at the same time.
#pragma once
#include "kernels/cuda/launches.h"

namespace rota::kernels::cuda {

void add_float_reductions(Launches& launches) noexcept;
void add_integer_reductions(Launches& launches) noexcept;
void add_casts(Launches& launches) noexcept;
void add_codings(Launches& launches) noexcept;
void add_updates(Launches& launches) noexcept;  // And norms.
void add_layers(Launches& launches) noexcept;   // And biases, and the loss.
void add_images(Launches& launches) noexcept;   // Pooling and convolutions.

inline TypeLaunches& launches_of(Launches& launches, DataType type) noexcept {
  return launches.types[static_cast<std::size_t>(type)];
}

}  // namespace rota::kernels::cuda

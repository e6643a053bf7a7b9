// Has the names by which the tables of CUDA's functions know streams and events.
#pragma once
#include <cstdint>

namespace rota::cuda {

// A stream or an event of CUDA, as a number. Only the table's functions know its meaning.
using Handle = std::uintptr_t;

// Where an operation runs: a stream, and the device that it belongs to.
struct On {
  std::uint8_t device = 0;
  Handle stream = 0;
};

}  // namespace rota::cuda

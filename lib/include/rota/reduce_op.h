// How the values of all ranks become one.
#pragma once
#include <cstdint>

namespace rota {

enum class ReduceOp : std::uint8_t {
  kSum,
  kMean,  // The sum times 1 / world_size, which is rounded to the values' type first.
};

}  // namespace rota

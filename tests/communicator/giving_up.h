// Helpers for the tests of ranks that give up.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include <rota/communicator.h>

#include "communicator/thread_world.h"

namespace rota::testing {

inline std::span<float> floats_of(const Block& block) {
  return {reinterpret_cast<float*>(block.bytes().data()), block.bytes().size() / sizeof(float)};
}

inline bool all_are(std::span<const float> values, float expected) {
  return std::ranges::all_of(values, [&](float value) { return value == expected; });
}

inline std::vector<Communicator> world_in_memory(std::size_t world_size,
                                                 std::chrono::nanoseconds deadline) {
  return ThreadWorld::make({.world_size = world_size,
                            .arena_bytes = std::size_t{1} << 30,
                            .communicator = {.deadline = deadline}});
}

}  // namespace rota::testing

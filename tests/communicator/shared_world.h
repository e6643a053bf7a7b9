// Helpers for tests of collectives: worlds of threads over shared memory, and values to add up.
#pragma once
#include <chrono>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "communicator/thread_world.h"

namespace rota::testing {

inline std::vector<Communicator> shared_world(std::size_t world_size,
                                              const std::string& plan = "auto") {
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(20);
  options.plan = plan;
  return ThreadWorld::make({.world_size = world_size, .communicator = options});
}

template <class T>
std::span<T> values_in(const Block& block, std::size_t count) {
  return {reinterpret_cast<T*>(block.bytes().data()), count};
}

// Returns numbers whose sums are rounded, so another order of additions gives other bits.
template <class T>
std::vector<T> contribution_of(std::size_t rank, std::size_t count) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(rank * 7919 + count));
  std::uniform_real_distribution<float> range(-3.0F, 3.0F);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(T(range(random)));
  return values;
}

// Counts around the capacity of a post, a cache line, a page, a piece, and slices of whole pages.
inline constexpr std::size_t kSharedCounts[] = {0,  1,    5,     11,    12,    13,    16,
                                                25, 1000, 16384, 16385, 40001, 70003, 150000};

}  // namespace rota::testing

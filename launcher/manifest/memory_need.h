// The memory limit of a pod: what rotarun and its ranks take, by one formula for those who write a
// manifest and those who check one. docs/manifests.md has it in words.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rota::manifest {

// How many numbers of the model's a rank keeps for each parameter: the parameter, its gradient, and
// one for Sgd or two for Adam.
inline constexpr std::size_t kNumbersWithSgd = 3;
inline constexpr std::size_t kNumbersWithAdam = 4;

struct MemoryNeed {
  std::size_t slot_count = 1;  // Ranks of this pod.
  std::size_t world_size = 1;
  std::uint64_t parameter_count = 0;  // Of the model, 4 bytes each.
  std::size_t numbers_per_parameter = kNumbersWithSgd;
  bool encrypts = false;
};

// Bytes that count for the pod's limit, shared buffers among them; without what the program has
// beside the model, such as data and activations.
std::uint64_t memory_need(const MemoryNeed& need) noexcept;

}  // namespace rota::manifest

// Computes the memory that rotarun and its ranks need in a pod. rotarun render and its --check
// share this formula; docs/manifests.md gives it in words.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rota::manifest {

// Numbers that a rank keeps for each parameter of the model: the parameter, its gradient, and one
// more for Sgd or two more for Adam.
inline constexpr std::size_t kNumbersWithSgd = 3;
inline constexpr std::size_t kNumbersWithAdam = 4;

struct MemoryNeed {
  std::size_t slot_count = 1;  // Ranks of this pod.
  std::size_t world_size = 1;
  std::uint64_t parameter_count = 0;  // Parameters of the model, 4 bytes each.
  std::size_t numbers_per_parameter = kNumbersWithSgd;
  bool encrypts = false;
  bool saves_checkpoints = false;  // To one folder that all hosts see, while training goes on.
};

// Returns the bytes that count towards the pod's limit, shared buffers included. Other memory of
// the program, such as data and activations, is not included, nor is what codecs take.
std::uint64_t memory_need(const MemoryNeed& need) noexcept;

}  // namespace rota::manifest

// Computes the memory of a pod. The terms are those of docs/memory.md, at their upper bounds.
#include "launcher/manifest/job_memory.h"

#include <algorithm>

#include "base/memory_terms.h"

namespace rota::manifest {
namespace {

constexpr std::uint64_t kMebibyte = 1024 * 1024;

constexpr std::uint64_t kLauncher = 8 * kMebibyte;  // Both processes of rotarun, and its messages.
constexpr std::uint64_t kProcess = 4 * kMebibyte;   // A rank before main(): libraries, heap, stack.
constexpr std::uint64_t kPlanCount = 64;  // Distinct calls of a training run: a generous bound.
constexpr std::uint64_t kBytesPerNumber = 4;

// Returns the terms of docs/memory.md over shared memory and TCP: a job with several ranks in a pod
// uses both.
std::uint64_t communication(const MemoryNeed& need) {
  const std::uint64_t world_size = need.world_size;
  return base::connection_bytes({.world_size = world_size,
                                 .sharing_count = world_size,
                                 .has_tcp = true,
                                 .encrypts = need.encrypts,
                                 .stage_count = world_size - 1}) +
         kPlanCount * base::plan_bytes(world_size);
}

// Returns the bytes of the parameters, of their gradients and of the optimizer's numbers. The sum
// includes the scratch memory of the direct all-reduce, which is one chunk.
std::uint64_t model(const MemoryNeed& need) {
  const std::uint64_t world_size = std::max<std::uint64_t>(need.world_size, 1);
  const std::uint64_t chunk = (need.parameter_count + world_size - 1) / world_size;
  return kBytesPerNumber * (need.parameter_count * need.numbers_per_parameter + chunk);
}

// Returns the bytes of a rank's snapshot: a copy of its share of the parameters and of the
// optimizer's numbers. Tensors are dealt to the ranks whole, or in pieces of 64 MiB at most, so a
// share may be larger than an equal part by one piece.
std::uint64_t snapshot(const MemoryNeed& need) {
  constexpr std::uint64_t kPiece = 64 * kMebibyte;
  const std::uint64_t world_size = std::max<std::uint64_t>(need.world_size, 1);
  const std::uint64_t state =
      kBytesPerNumber * need.parameter_count * (need.numbers_per_parameter - 1);  // No gradients.
  return std::min(state, (state + world_size - 1) / world_size + kPiece);
}

}  // namespace

std::uint64_t memory_need(const MemoryNeed& need) noexcept {
  const std::uint64_t own = kProcess + model(need) + (need.saves_checkpoints ? snapshot(need) : 0);
  const std::uint64_t rank = need.world_size > 1 ? own + communication(need) : own;
  return kLauncher + need.slot_count * rank;
}

}  // namespace rota::manifest

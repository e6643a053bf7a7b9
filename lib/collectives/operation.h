// One operation on one rank, and a description of what it waits for.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/description.h"
#include "collectives/plan.h"
#include "collectives/planned.h"
#include "collectives/shared/scatter_list.h"

namespace rota::device {
class Arrivals;
}

namespace rota::collectives {

// All pointers are borrowed until the operation is done.
struct Operation {
  const PlannedCollective* planned = nullptr;
  std::uint64_t sequence = 0;  // The number that the planned signature lacks.
  // Index = Buffer, up to kCoded. The input is only read.
  std::array<std::byte*, static_cast<std::size_t>(Buffer::kCoded) + 1> buffers{};
  // For kShared: the parts of a grouped call, in place of the values. In this rank's arena.
  const ScatterList* parts = nullptr;
  std::uint64_t draw = 0;  // A number for the random draws of a codec; 0: the sequence.
  // For values on a device: what must be done before the operation uses the caller's buffers. May
  // be null. Not valid for values in host memory.
  const device::Arrivals* arrivals = nullptr;
  // For values on a device. For a plan that stages: the memory of Buffer::kStaging. Otherwise the
  // result of Method::make_staging().
  std::byte* staging = nullptr;

  Signature signature() const noexcept {
    Signature own = planned->signature;
    own.set_sequence(sequence);
    return own;
  }
};

// The peer that an unfinished operation waits for, and the progress so far.
struct Wait {
  std::size_t peer = 0;
  bool sends = false;
  std::uint32_t step = 0;  // Within its lane.
  std::uint32_t step_count = 0;
  std::size_t bytes = 0;  // Finished bytes of the step; step_bytes: all bytes of the step.
  std::size_t step_bytes = 0;
  bool is_any = false;  // The operation may wait for any rank; `peer` is one of them.
};

}  // namespace rota::collectives

// One collective on one rank, and what it waits for.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/description.h"
#include "collectives/plan.h"
#include "collectives/planned.h"
#include "collectives/shared/reach.h"

namespace rota::collectives {

// Everything is lent until it is done.
struct Operation {
  const PlannedCollective* planned = nullptr;
  std::uint64_t sequence = 0;                      // What the planned signature lacks.
  std::array<std::byte*, kBufferCount> buffers{};  // Index = Buffer. The input is never written.
  const PartList* parts = nullptr;  // Instead of the values, in an exchange: in the own arena.

  Signature signature() const noexcept {
    Signature own = planned->signature;
    own.set_sequence(sequence);
    return own;
  }
};

// Whom an unfinished operation waits for, and how far it has come.
struct Wait {
  std::size_t peer = 0;
  bool sends = false;
  std::uint32_t step = 0;  // Within its lane.
  std::uint32_t step_count = 0;
  std::size_t bytes = 0;  // Of the step: done, and in all.
  std::size_t step_bytes = 0;
};

}  // namespace rota::collectives

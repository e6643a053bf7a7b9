// One collective on one rank, and what it waits for.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/coder.h"
#include "collectives/description.h"
#include "collectives/plan.h"
#include "collectives/reducer.h"
#include "collectives/shared/reach.h"

namespace rota::collectives {

// Everything is lent until it is done.
struct Operation {
  const Plan* plan = nullptr;
  const Reducer* reducer = nullptr;
  const Coder* coder = nullptr;                    // Of a coded plan.
  std::array<std::byte*, kBufferCount> buffers{};  // Index = Buffer. The input is never written.
  Signature signature;
  const PartList* parts = nullptr;  // Instead of the values, in an exchange: in the own arena.
  bool in_place = true;             // The contribution is in the values, not in the input.
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

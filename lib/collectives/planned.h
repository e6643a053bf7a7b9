// A call that can run, as often as it comes again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include <rota/memory.h>

#include "collectives/coder.h"
#include "collectives/description.h"
#include "collectives/plan.h"
#include "collectives/reducer.h"

namespace rota::collectives {

struct PlannedCollective {
  Description call{};     // As it was asked for.
  Signature signature{};  // As it was chosen, but for the sequence.
  Plan plan{};
  Reducer reducer;
  std::optional<Coder> coder{};  // Of a coded plan.
  Block scratch{};
  Block coded{};
  std::uint8_t method = 0;      // Of the group's: which makes it.
  std::size_t value_bytes = 0;  // Of the memory that the caller lends.
  std::size_t input_bytes = 0;
  std::size_t feedback_bytes = 0;
};

}  // namespace rota::collectives

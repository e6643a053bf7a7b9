// A call that is ready to run. It is cached for the next time the same call is made.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include <rota/device_memory.h>
#include <rota/memory.h>

#include "collectives/coder.h"
#include "collectives/description.h"
#include "collectives/plan.h"
#include "collectives/reducer.h"

namespace rota::collectives {

struct PlannedCollective {
  Description call{};     // As the caller asked.
  Signature signature{};  // With the chosen algorithm and codec, without the sequence.
  Plan plan{};
  Reducer reducer;
  std::optional<Coder> coder{};  // For a coded plan.
  Block scratch{};
  Block coded{};
  DeviceBlock device_scratch{};  // For a plan that stages, in place of `scratch`.
  std::uint8_t method = 0;       // Index in the group's methods.
  std::size_t value_bytes = 0;   // The next three are sizes of the caller's memory in use.
  std::size_t input_bytes = 0;
  std::size_t feedback_bytes = 0;
};

}  // namespace rota::collectives

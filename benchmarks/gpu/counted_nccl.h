// Counts the all-reduces that go to NCCL. A figure of NCCL is worth nothing if rota has given its
// calls to a plan of its own.
#pragma once
#include <rota/nccl_calls.h>

#include <cstdint>

namespace rota::bench::gpu {

// Returns a table that does what `calls` does, and counts. There is one such table: a later call
// fills it again. `calls` must exist until the process ends.
const nccl::Calls& counted(const nccl::Calls& calls) noexcept;

// Returns the number of all-reduces that this process has given to the counted table.
std::uint64_t counted_all_reduces() noexcept;

}  // namespace rota::bench::gpu

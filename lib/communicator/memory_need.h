// Allocates a group's buffers, and warns if the control group's memory limit is too low for a
// buffer on every rank.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <rota/memory.h>

#include "communicator/group.h"

namespace rota {

// Returns a message that tells which limit to raise. In a pod, the limit is a field of the
// manifest. Empty if the memory suffices, or if there is no limit.
std::string lack_of_memory(std::size_t buffer_bytes, std::size_t local_rank_count,
                           std::optional<std::uint64_t> limit_bytes, bool is_pod);

// Returns whether this process runs in a pod. Reads the environment.
bool is_in_pod();

// Returns memory that the group's ranks can access in place if the transport allows it. If the
// control group's limit is too low, writes a warning to stderr, before the kernel ends a process:
// once, from the first rank of a host. Throws Error kNoMemory.
Block allocate_for(const Group& group, std::size_t bytes);

}  // namespace rota

// Whether the memory that the control group allows has room for a buffer that every rank has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <rota/memory.h>

#include "communicator/group.h"

namespace rota {

// Empty where it has, and where there is no limit; else a sentence with what to raise, which in a
// pod is a field of its manifest.
std::string lack_of_memory(std::size_t buffer_bytes, std::size_t local_rank_count,
                           std::optional<std::uint64_t> limit_bytes, bool is_pod);

// Whether this process runs in a pod; from the environment.
bool is_in_pod();

// Memory that the group's ranks reach in place where they can. Where the control group has no room
// for it, says so on stderr before the kernel ends somebody: once, by the first rank of a host.
// Throws Error kNoMemory.
Block allocate_for(const Group& group, std::size_t bytes);

}  // namespace rota

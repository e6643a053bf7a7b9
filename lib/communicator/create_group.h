// Creates groups from the ranks of an existing communicator.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "communicator/group.h"
#include "communicator/impl.h"

namespace rota {

// Creates the group of the ranks with the same color, ordered by key and then by rank. Its
// collectives end within `deadline`; unset: the parent's deadline. split_group() and
// groups_for_threads() are collective over `parent`, and throw the Errors of collectives, kNoMemory
// and kSystem.
Group split_group(CommunicatorImpl& parent, std::size_t color, std::size_t key,
                  std::optional<std::chrono::nanoseconds> deadline);

// Throws Error kInvalidArgument if `thread_count` is 0, or more than a world may have.
void require_thread_count(std::size_t thread_count);

// Creates one group with all threads of all processes, and returns it once for each thread of this
// process. `thread_count` is for this process; other processes pass their own. The ranks of a
// process are consecutive. Throws Error kInvalidArgument, on all ranks, if all counts together are
// more than a world may have.
std::vector<Group> groups_for_threads(CommunicatorImpl& parent, std::size_t thread_count);

}  // namespace rota

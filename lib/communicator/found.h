// Makes new groups out of the ranks of a communicator that stands.
#pragma once
#include <cstddef>
#include <vector>

#include "communicator/group.h"
#include "communicator/impl.h"

namespace rota {

// The ranks of the same colour, ordered by key and then by rank. Collective over `parent`, as is
// the next. Both throw what collectives throw; kNoMemory, kSystem.
Group split_group(CommunicatorImpl& parent, std::size_t color, std::size_t key);

// One group a thread: `thread_count` here, as many as they say in the other processes; the ranks
// of a process follow one another.
std::vector<Group> groups_for_threads(CommunicatorImpl& parent, std::size_t thread_count);

}  // namespace rota

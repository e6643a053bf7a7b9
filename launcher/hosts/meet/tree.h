// Who calls whom, so that nobody has to receive very many. Where there are few hosts all of them
// call the leader. Beyond that the ring's hosts are a tree in the order of their numbers: host 0 is
// called by hosts 1 to 32, host 1 by hosts 33 to 64, and so on; what the leader and a far host say
// to each other is passed on by those between them.
#pragma once
#include <cstddef>
#include <vector>

#include "launcher/hosts/meet/meeting.h"

namespace rota::launcher {

// Of those that are not the leader: whom they call.
std::size_t parent_of(const Meeting& meeting, std::size_t host);

// Those that call it, by their numbers.
std::vector<std::size_t> children_of(const Meeting& meeting, std::size_t host);

// The host and all below it, without those that have no part in the ring unless it is one.
std::vector<std::size_t> branch_of(const Meeting& meeting, std::size_t host);

// Whether what a host says to the leader passes by another one.
bool is_below(const Meeting& meeting, std::size_t host, std::size_t other);

// The one that calls `host`, on the way to one that is below it.
std::size_t child_toward(const Meeting& meeting, std::size_t host, std::size_t destination);

}  // namespace rota::launcher

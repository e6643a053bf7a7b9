// Gives a group its tuned table, and checks that the table is for the group's topology.
#pragma once
#include <string>
#include <vector>

#include "communicator/group.h"

namespace rota {

// Reads a tuned file. Throws Error kInvalidArgument if it cannot be opened, is not a regular file,
// or is longer than kMaxTunedBytes; kSystem if a read fails.
std::string read_tuned_file(const std::string& path);

// Gives the group the table, whether or not it is for the group's topology. Throws what
// parse_tuned() throws.
void give_tuned(Group& group, const std::string& path, std::string_view text);

// Throws Error kInvalidArgument, which names both topologies, if the table is for another topology.
void require_own_topology(const Group& group);

// Removes the tuned table if it is for another topology. Groups that split() and for_threads() make
// then use the default table.
void forget_foreign_topology(Group& group);

}  // namespace rota

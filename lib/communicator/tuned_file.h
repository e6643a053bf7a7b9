// Where a group's tuned table comes from, and whether it is for that group.
#pragma once
#include <string>
#include <vector>

#include "communicator/group.h"

namespace rota {

// Throws Error kInvalidArgument where it cannot be opened, is no file, or is longer than
// kMaxTunedBytes; kSystem where a read fails.
std::string read_tuned_file(const std::string& path);

// The group is given the table, whether it is for its topology or not. Throws as parse_tuned does.
void give_tuned(Group& group, const std::string& path, std::string_view text);

// Throws Error kInvalidArgument, with both topologies, where the table is for another one.
void require_own_topology(const Group& group);

// A part of a job takes the default table where the job's tuned one is not for it.
void forget_foreign_topology(Group& group);

}  // namespace rota

// Gives a group the method for NCCL's collectives, if its options ask for the plan nccl.
#pragma once
#include <optional>
#include <string>

#include <rota/nccl_calls.h>
#include <rota/options.h>

#include "communicator/group.h"

namespace rota {

bool asks_for_nccl(const CommunicatorOptions& options);

// Returns which NCCL this rank has, such as "NCCL 2.28.9". All ranks must have the same. Throws
// Error kInvalidArgument if this rank has none, or no device.
std::string nccl_of_this_rank();

// Returns the name of a communicator of NCCL, for one rank to give to the others. Throws Error
// kSystem.
nccl::Id make_nccl_id();

// Returns the same for a rank that is alone, and nothing if this process cannot use NCCL: such a
// rank needs none.
std::optional<nccl::Id> nccl_id_of_one();

// Adds the method. `id`: the same on all ranks of the group. Requires an earlier
// nccl_of_this_rank().
void add_nccl(Group& group, const nccl::Id& id, const CommunicatorOptions& options);

}  // namespace rota

// From a descriptor, or a table, to a connected group.
#pragma once
#include <rota/options.h>

#include "communicator/group.h"

namespace rota {

// Whether nobody else is to join: there is no launcher, and no table with others in it.
// Throws Error kInvalidArgument where one of several was started so, and nobody means it.
bool is_alone(const CommunicatorOptions& options);

// Throws what Communicator's constructor does.
Group join(const CommunicatorOptions& options);

}  // namespace rota

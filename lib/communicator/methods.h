// How a group makes its operations.
#pragma once
#include "communicator/group.h"

namespace rota {

// Adds to those that the group has: plans and, where all ranks share memory, what they do there.
Group with_own_methods(Group group);

}  // namespace rota

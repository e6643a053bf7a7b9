// Gives a group its methods to run operations.
#pragma once
#include "communicator/group.h"

namespace rota {

// Adds rota's own methods: plans; collectives in shared memory, if all ranks share memory; and
// plans for values on devices, if the program has a table of functions for them.
Group with_own_methods(Group group);

}  // namespace rota

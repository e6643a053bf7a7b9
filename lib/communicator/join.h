// From a descriptor, or a table, to a connected group.
#pragma once
#include <rota/options.h>

#include "communicator/group.h"

namespace rota {

// Throws what Communicator's constructor does.
Group join(const CommunicatorOptions& options);

}  // namespace rota

// Makes rota's communicator available to the method.
#pragma once
#include <memory>

#include <rota/options.h>

#include "collectives/group.h"

namespace rota::bench {

// Joins the job. Collective.
std::unique_ptr<Group> make_rota_group(const CommunicatorOptions& options);

}  // namespace rota::bench

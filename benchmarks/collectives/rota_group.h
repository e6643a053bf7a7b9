// A communicator of rota's, as the method sees it.
#pragma once
#include <memory>

#include <rota/options.h>

#include "collectives/group.h"

namespace rota::bench {

// Joins the job.
std::unique_ptr<Group> make_rota_group(const CommunicatorOptions& options);

}  // namespace rota::bench

// Makes rota's communicator available to the method.
#pragma once
#include <memory>

#include <rota/communicator.h>
#include <rota/options.h>

#include "collectives/group.h"

namespace rota::bench {

// Joins the job. Collective.
std::unique_ptr<Group> make_rota_group(const CommunicatorOptions& options);

// A group and its communicator, for what Group has no function for. The group owns the
// communicator.
struct RotaWorld {
  std::unique_ptr<Group> group;
  Communicator* communicator = nullptr;
};

// Joins the job. Collective.
RotaWorld make_rota_world(const CommunicatorOptions& options);

}  // namespace rota::bench

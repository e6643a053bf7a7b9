// Makes the methods that need only the group's transport.
#include "communicator/methods.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/plan_run.h"
#include "collectives/shared/device_run.h"
#include "collectives/shared/run.h"
#include "device/calls.h"

namespace rota {
namespace {

std::vector<transport::Channel*> channels_of(const Group& group) {
  std::vector<transport::Channel*> channels(group.world_size(), nullptr);
  for (std::size_t peer = 0; group.transport && peer < channels.size(); ++peer) {
    if (peer != group.rank) channels[peer] = &group.transport->channel(peer);
  }
  return channels;
}

}  // namespace

Group with_own_methods(Group group) {
  const auto channels = channels_of(group);
  transport::SharedMemory* memory = group.transport ? group.transport->shared_memory() : nullptr;
  const collectives::Flags* flags = nullptr;
  collectives::SharedCollectives* in_shared_memory = nullptr;
  if (memory) {
    auto shared = std::make_unique<collectives::SharedCollectives>(*memory, channels);
    in_shared_memory = shared.get();
    flags = &shared->flags();
    group.methods.push_back(std::move(shared));
  }
  auto plans = std::make_unique<collectives::Plans>(channels, flags);
  auto device_plans = std::make_unique<collectives::DevicePlans>(*plans);
  group.methods.push_back(std::move(plans));
  if (!device::calls_in_use()) return group;
  group.methods.push_back(std::move(device_plans));
  if (in_shared_memory) {
    group.methods.push_back(
        std::make_unique<collectives::DeviceSharedCollectives>(*in_shared_memory, group.verbose));
  }
  return group;
}

}  // namespace rota

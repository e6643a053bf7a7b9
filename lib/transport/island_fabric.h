// Ranks of an island share memory, and islands call each other over TCP.
#pragma once
#include <memory>

#include "transport/fabric.h"
#include "transport/shm/transport.h"

namespace rota::transport {

// `inside`: how this process reaches others' memory already; null where it does not.
std::unique_ptr<Fabric> island_fabric(const Site& site, const shm::Transport* inside);

}  // namespace rota::transport

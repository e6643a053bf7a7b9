// Makes the fabric of domains: ranks of one domain share memory, and ranks of different domains
// connect over TCP.
#pragma once
#include <memory>

#include "transport/fabric.h"
#include "transport/shm/transport.h"

namespace rota::transport {

// `inside` is the transport over which this process already shares memory with other ranks, or
// null.
std::unique_ptr<Fabric> domain_fabric(const GroupShape& shape, const shm::Transport* inside);

}  // namespace rota::transport

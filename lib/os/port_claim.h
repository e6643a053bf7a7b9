// Ports that are set aside for somebody who listens there later.
#pragma once
#include <cstdint>
#include <optional>

#include "os/fd.h"

namespace rota::os {

// Claims a port of this host on which nobody listens; empty where somebody does, or has claimed it.
// The port stays free, so that whoever is told of it can have it. The claim holds among those who
// ask here, of whatever user, and ends with the descriptor. Throws Error kSystem where there are no
// sockets to ask with.
std::optional<Fd> claim_port(std::uint16_t port);

}  // namespace rota::os

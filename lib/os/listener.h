// Listening sockets, and ports that are set aside for somebody who listens there later.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "os/address.h"
#include "os/fd.h"

namespace rota::os {

struct Listener {
  Fd socket;            // Bound, listening, non-blocking, closed on exec.
  std::string address;  // "127.0.0.1:41234"
};

// Port 0: one that the system picks; "[::]" is everywhere, on both families where the system has
// both. Throws Error kSystem.
Listener listen_on(const Address& address);
Listener listen_on_loopback();

// At "host:port" as a person wrote it. A number is where it says, and "localhost" on the loopback
// interface. Any other name is everywhere: no interface may have the name's address, or others may
// know it by another one.
Listener listen_at(const std::string& address);

// Claims a port of this host on which nobody listens; empty where somebody does, or has claimed it.
// The port stays free, so that whoever is told of it can have it. The claim holds among those who
// ask here, of whatever user, and ends with the descriptor. Throws Error kSystem where there are no
// sockets to ask with.
std::optional<Fd> claim_port(std::uint16_t port);

}  // namespace rota::os

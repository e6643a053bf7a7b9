// Listening sockets.
#pragma once
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

}  // namespace rota::os

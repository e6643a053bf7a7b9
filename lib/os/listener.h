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

// Port 0: one that the system picks. Throws Error kSystem.
Listener listen_on(const Address& address);
Listener listen_on_loopback();

// At the port of `address`, on every interface that its family has.
Listener listen_everywhere(const Address& address);

}  // namespace rota::os

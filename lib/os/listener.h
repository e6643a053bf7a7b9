// A listening socket on the loopback interface, on a port that the system picks.
#pragma once
#include <string>

#include "os/fd.h"

namespace rota::os {

struct Listener {
  Fd socket;            // Bound, listening, non-blocking, closed on exec.
  std::string address;  // "127.0.0.1:41234"
};

// Throws Error kSystem.
Listener listen_on_loopback();

}  // namespace rota::os

// Where a test may listen.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "os/listener.h"

namespace rota::testing {

// Addresses on loopback whose ports were free a moment ago.
inline std::vector<std::string> free_addresses(std::size_t count) {
  std::vector<os::Listener> listeners;
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    listeners.push_back(os::listen_on_loopback());
    addresses.push_back(listeners.back().address);
  }
  return addresses;
}

}  // namespace rota::testing

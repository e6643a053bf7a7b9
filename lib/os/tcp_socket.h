// Stream sockets that never block.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "os/fd.h"

namespace rota::os {

// A connection on its way, or why it could not even set out.
struct Connecting {
  Fd socket;
  std::optional<std::string> failure;
};

// Starts to connect to "10.0.0.1:7001" or "[fd00::1]:7001"; once it is writable, ask
// connect_result().
// Throws Error kSystem (no socket), kInvalidArgument for an address that is none.
Connecting start_connect(const std::string& address);

// Empty when the connection stands, else the reason why it does not.
std::optional<std::string> connect_result(int socket);

// The next waiting connection of a listening socket, or an empty Fd. Throws Error kSystem.
Fd accept_connection(int listener);

// Small messages leave at once.
void set_no_delay(int socket);

// The peer reads what was sent, and then the end.
void end_sending(int socket) noexcept;

// What one call moved. A connection that ended has `closed` and the reason.
struct Moved {
  std::size_t bytes = 0;
  bool closed = false;
  std::string reason;
};

// Neither blocks nor raises SIGPIPE.
Moved send_some(int socket, std::span<const std::byte> first, std::span<const std::byte> second);
Moved receive_some(int socket, std::span<std::byte> into);

}  // namespace rota::os

// Stream sockets that never block: of TCP, and local ones, over which only processes of one user
// reach each other.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "os/address.h"
#include "os/fd.h"

namespace rota::os {

// A connection on its way, or why it could not even set out.
struct Connecting {
  Fd socket;
  std::optional<std::string> failure;
};

// Starts to connect; once it is writable, ask connect_result(). Throws Error kSystem (no socket).
Connecting start_connect(const Address& target);

// Empty when the connection stands, else the reason why it does not.
std::optional<std::string> connect_result(int socket);

// The next waiting connection of a listening socket, if there is one. Callers that are gone again
// are passed over, and so are those of other users who call a local name. Throws Error kSystem.
struct Accepted {
  Fd socket{};
  std::optional<Address> caller{};  // Where there is a socket.
  std::string lack{};               // What there is too little of to take it: descriptors, memory.
};
Accepted accept_connection(int listener);

// A peer whose host is gone ends the connection within a minute, although nobody sends.
void keep_alive(int socket);

// How long the peer's kernel has said nothing, while it has something to acknowledge; empty where
// nothing is under way to it.
std::optional<base::Duration> unacknowledged_for(int socket) noexcept;

// Small messages leave at once.
void set_no_delay(int socket);

// The peer reads what was sent, and then the end.
void end_sending(int socket) noexcept;

// What one call moved. A connection that ended has `closed` and the reason. Where this host had no
// memory for the call, it moved nothing, and may move something later.
struct Moved {
  std::size_t bytes = 0;
  bool closed = false;
  std::string reason{};
  bool lacks_memory = false;
};

// Neither blocks nor raises SIGPIPE.
Moved send_some(int socket, std::span<const std::byte> first, std::span<const std::byte> second);
Moved receive_some(int socket, std::span<std::byte> into);

// The same, but that what comes stays where it is.
Moved peek_some(int socket, std::span<std::byte> into);

}  // namespace rota::os

// Uses stream sockets without blocking: TCP sockets, and local sockets, which connect only
// processes of one user.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "os/address.h"
#include "os/fd.h"

namespace rota::os {

// A connection under way, or the reason why it failed immediately: then there may be no socket.
struct Connecting {
  Fd socket;
  std::optional<std::string> failure;
};

// Starts to connect. Once the socket is writable, call connect_result(). Throws Error kSystem when
// no socket can be made.
Connecting start_connect(const Address& target);

// Returns nothing while the socket is connecting and when the connection is made. Otherwise returns
// the reason why it is not.
//
// If nobody listens at a port of this host from which the system also takes the ports of callers,
// the system may give the caller this very port, and connect the socket to itself. This counts as a
// refused connection: nobody listens there. The caller must close the socket, which then gives the
// port back to the process that is about to listen there.
std::optional<std::string> connect_result(int socket);

// Returns whether the socket has a peer: whether the connection is made, and not reset.
bool has_peer(int socket) noexcept;

// Returns why the connection has failed, if it has. Costs less than connect_result(), which need
// not be called again once it has returned nothing for a socket that had a peer.
std::optional<std::string> connection_failure(int socket);

// Accepts the next waiting connection of a listening socket, if there is one. Skips peers that have
// already gone, and peers of other users at a local name. Throws Error kSystem.
struct Accepted {
  Fd socket{};
  std::optional<Address> caller{};  // Set when there is a socket.
  std::string lack{};               // Why no connection can be accepted: no descriptors, no memory.
};
Accepted accept_connection(int listener);

// Ends the connection within about a minute after the host of the peer is gone, even if neither
// side sends. If this side has sent data that the host did not acknowledge, the system goes on
// trying for up to 20 minutes: only a deadline or unacknowledged_for() ends that wait.
// TCP_USER_TIMEOUT is no remedy. It would also end a connection to a peer that is there and does
// not read for a minute, such as a rank that computes.
void keep_alive(int socket);

// Returns how long the peer's kernel has sent nothing while it has data to acknowledge. Returns
// nothing when all data is acknowledged.
std::optional<base::Duration> unacknowledged_for(int socket) noexcept;

// Makes the socket send small messages without delay.
void set_no_delay(int socket);

// Returns whether the peer has ended the connection or its sending, even if bytes that it has sent
// are unread.
bool has_hung_up(int socket) noexcept;

// Ends sending: the peer reads all bytes that were sent, and then end-of-file.
void end_sending(int socket) noexcept;

// The result of one call. When the connection has ended, `closed` is set and `reason` says why.
// When `lacks_memory` is set, this host had no memory for the call: the call moved nothing, and a
// later call may succeed.
struct Moved {
  std::size_t bytes = 0;
  bool closed = false;
  std::string reason{};
  bool lacks_memory = false;
};

// The next three functions neither block nor raise SIGPIPE.
Moved send_some(int socket, std::span<const std::byte> first, std::span<const std::byte> second);
Moved receive_some(int socket, std::span<std::byte> into);

// Does the same as receive_some(), but leaves the bytes in the socket.
Moved peek_some(int socket, std::span<std::byte> into);

}  // namespace rota::os

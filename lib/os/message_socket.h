// Makes connected local sockets that carry whole messages, with descriptors: pairs, and connections
// between processes of one user.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "os/address.h"
#include "os/fd.h"

namespace rota::os {

// The largest numbers of bytes and of descriptors in one message.
inline constexpr std::size_t kMaxMessageBytes = 64 * 1024;
inline constexpr std::size_t kMaxMessageFds = 250;

// Both ends are non-blocking and close on exec. Throws Error kSystem.
std::pair<Fd, Fd> make_message_socket_pair();

// Returns whether `fd` is open and is one end of a pair: a number from the environment may mean any
// descriptor.
bool is_message_socket(int fd) noexcept;

// Returns the ID of the process that made the socket pair of `fd`, or 0 when `fd` is not an end of
// a pair. The sockets may be of any type.
int maker_of_pair(int fd) noexcept;

// Returns whether the process at the other end of a local socket had the same user as this process.
// This is the user that the other process had when it connected or began to listen.
bool is_of_own_user(int socket) noexcept;

// These two functions decide whether `fd` closes when this process starts a program. Both throw
// Error kSystem.
void close_on_exec(int fd);
void keep_on_exec(int fd);

// Listens at a local name for connections that carry messages. Throws Error kSystem, for example if
// another process has the name.
Fd listen_for_messages(const Address& name);

// Accepts the next waiting connection, if there is one. Skips callers of other users. Throws Error
// kSystem.
std::optional<Fd> accept_messages(int listener);

// Connects to a process that listens at a local name. Returns nothing if too many callers wait
// there. Throws Error kSystem if no process listens there, or a process of another user: any user
// can claim any local name.
std::optional<Fd> connect_for_messages(const Address& name);

enum class Io { kDone, kWouldBlock, kClosed };

// Sends one message with its descriptors (the peer gets duplicates). Never blocks and never raises
// SIGPIPE. kClosed means that the peer is gone. Throws Error kSystem.
Io send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds = {});

// Receives one message into `bytes` and `fds` (both are replaced; the descriptors close on exec).
// Never blocks. kClosed: the peer is gone, and everything that it sent was received. Throws Error
// kSystem, for example if the message is larger than the limits above, or if this process may open
// no more descriptors.
Io receive_message(int socket, std::vector<std::byte>& bytes, std::vector<Fd>& fds);

}  // namespace rota::os

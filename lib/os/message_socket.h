// A pair of connected local sockets that carry whole messages, and descriptors with them.
#pragma once
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "os/fd.h"

namespace rota::os {

// The most bytes and descriptors that one message may carry.
inline constexpr std::size_t kMaxMessageBytes = 64 * 1024;
inline constexpr std::size_t kMaxMessageFds = 250;

// Both ends close on exec and non-blocking. Throws Error kSystem.
std::pair<Fd, Fd> make_message_socket_pair();

// Whether `fd` is open and such a socket: a number from the environment may be anything.
bool is_message_socket(int fd) noexcept;

// The process that has made the pair of which `fd` is an end, of any type; 0 where it is none.
int maker_of_pair(int fd) noexcept;

// Keeps `fd` from programs that this process may start. Throws Error kSystem.
void close_on_exec(int fd);
void keep_on_exec(int fd);

enum class Io { kDone, kWouldBlock, kClosed };

// Sends one message, descriptors included (the peer gets duplicates). Never blocks, never raises
// SIGPIPE: kClosed means that the peer is gone. Throws Error kSystem.
Io send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds = {});

// Receives one message into `bytes` and `fds` (both replaced; the descriptors close on exec).
// Never blocks. kClosed: the peer is gone and everything that it sent was received. Throws Error
// kSystem, also for a message larger than the limits above.
Io receive_message(int socket, std::vector<std::byte>& bytes, std::vector<Fd>& fds);

}  // namespace rota::os

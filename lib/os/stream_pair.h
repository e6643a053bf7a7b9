// Makes pairs of connected local sockets that carry a stream of bytes. One end is for a program
// that reads and writes it as a pipe.
#pragma once
#include <span>
#include <string_view>
#include <utility>

#include "os/fd.h"
#include "os/pipe.h"

namespace rota::os {

// Returns this process's end, which does not block, and the program's end, which blocks. Both close
// on exec. Throws Error kSystem.
std::pair<Fd, Fd> make_stream_pair();

// These two read and write once, at this process's end, and never block or raise SIGPIPE. kClosed:
// the peer is gone.
ReadResult receive_available(int socket, std::span<char> buffer) noexcept;
WriteResult send_available(int socket, std::string_view text) noexcept;

}  // namespace rota::os

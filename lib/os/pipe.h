// Pipes, and descriptors that may have nothing to say yet, or no room.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "os/fd.h"
#include "os/message_socket.h"

namespace rota::os {

// The read end, which does not block, and the write end, which does. Both are closed on exec.
// Throws Error kSystem.
std::pair<Fd, Fd> make_pipe();

struct ReadResult {
  Io io = Io::kWouldBlock;
  std::size_t count = 0;  // Bytes read; above zero with kDone only.
};

// Reads once from a descriptor that does not block. kClosed: there will be nothing more.
// Throws Error kSystem.
ReadResult read_available(int fd, std::span<char> buffer);

struct WriteResult {
  Io io = Io::kWouldBlock;
  std::size_t count = 0;  // Bytes written; above zero with kDone only.
};

// Writes once to a descriptor that does not block. kClosed: it takes nothing any more.
WriteResult write_available(int fd, std::string_view text) noexcept;

// The null device, for reading and writing. Throws Error kSystem.
Fd open_null();

// Opens the null device in place of the standard descriptors that this process was started without,
// so that none of our own descriptors is taken for one of them. Throws Error kSystem.
void fill_standard_descriptors();

}  // namespace rota::os

// Makes pipes, and reads from and writes to descriptors that do not block.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "os/fd.h"
#include "os/message_socket.h"

namespace rota::os {

// Returns the read end, which does not block, and the write end, which blocks. Both close on exec.
// Throws Error kSystem.
std::pair<Fd, Fd> make_pipe();

struct ReadResult {
  Io io = Io::kWouldBlock;
  std::size_t count = 0;  // Bytes read; above zero with kDone only.
};

// Reads once from a descriptor that does not block. kClosed: no more data will come. Throws Error
// kSystem.
ReadResult read_available(int fd, std::span<char> buffer);

struct WriteResult {
  Io io = Io::kWouldBlock;
  std::size_t count = 0;  // Bytes written; above zero with kDone only.
};

// Writes once to a descriptor that does not block. kClosed: the descriptor accepts no more data.
WriteResult write_available(int fd, std::string_view text) noexcept;

// Opens the null device, for reading and writing. Throws Error kSystem.
Fd open_null();

// Opens the null device for each standard descriptor that was closed when this process started.
// Otherwise a later descriptor could get the number 0, 1 or 2. Throws Error kSystem.
void fill_standard_descriptors();

}  // namespace rota::os

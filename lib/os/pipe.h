// Pipes, and reading from descriptors that may have nothing to say yet.
#pragma once
#include <cstddef>
#include <span>
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

// The null device, for reading and writing. Throws Error kSystem.
Fd open_null();

// Opens the null device in place of the standard descriptors that this process was started without,
// so that none of our own descriptors is taken for one of them. Throws Error kSystem.
void fill_standard_descriptors();

}  // namespace rota::os

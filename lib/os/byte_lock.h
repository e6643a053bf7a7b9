// Locks single bytes of a file that processes share, to say which of them uses something. A lock
// belongs to the process, and ends with it even if it is killed.
#pragma once
#include <cstdint>
#include <optional>

#include "os/fd.h"

namespace rota::os {

struct ByteLock {
  std::uint64_t at = 0;  // The byte.
  int pid = 0;           // The process, as this process numbers processes.
};

// Locks the byte for this process. The file may be shorter. All locks end when this process closes
// any descriptor of the file. Returns false if another process has the byte. Throws Error kSystem.
bool lock_byte(const Fd& file, std::uint64_t at);

// Unlocks a byte of this process. Never throws: the lock would end with the process.
void unlock_byte(const Fd& file, std::uint64_t at) noexcept;

// Returns a lock of another process on one of these bytes. Throws Error kSystem.
std::optional<ByteLock> find_lock(const Fd& file, std::uint64_t begin, std::uint64_t bytes);

}  // namespace rota::os

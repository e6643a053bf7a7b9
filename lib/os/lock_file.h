// Locks on whole files, and a file that names its owner. The owner holds a lock on the file. The
// lock ends with the owner's process, even if that process is killed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "os/fd.h"

namespace rota::os {

enum class FileLock : std::uint8_t {
  kLocked,
  kHeld,     // Another descriptor, in any process, has the lock.
  kNoLocks,  // This file system, or the kernel, has no such locks.
};

// Tries to lock a file that is open for writing, and never waits. The lock belongs to the
// descriptor and its copies, also in forked processes, and ends when all of them are closed. Throws
// Error kCannotWrite, with `path` in its text.
FileLock try_lock(const Fd& file, const std::string& path);

// Ends the lock, for copies of the descriptor too. Never throws.
void unlock(const Fd& file) noexcept;

// Returns whether any other descriptor has such a lock on a file. If that cannot be found out,
// returns false.
bool is_locked(const std::string& path) noexcept;

class LockFile {
 public:
  // Opens `path` for writing, or creates it. Follows no link there, and never waits. Throws Error
  // kCannotWrite, for example if something other than a regular file is there.
  explicit LockFile(std::string path);

  using Lock = FileLock;

  // Tries to lock the file, and never waits. The lock ends with this object. Throws Error
  // kCannotWrite.
  Lock try_lock() { return os::try_lock(file_, path_); }

  // Replaces the contents from byte `offset` on, and returns when the disk has them. Throws Error
  // kCannotWrite; then the file is no shorter than before. If the same text, or a longer one that
  // begins with it, is then written to the same place, another process that reads the file sees
  // only that it grows.
  void write(std::string_view text, std::uint64_t offset = 0);

  // Returns the contents. Throws UnreadableFile.
  std::string read() const;

 private:
  std::string path_;
  Fd file_;
};

}  // namespace rota::os

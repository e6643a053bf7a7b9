// A file that names its owner. The owner holds a lock on the file. The lock ends with the owner's
// process, even if that process is killed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "os/fd.h"

namespace rota::os {

class LockFile {
 public:
  // Opens `path` for writing, or creates it. Follows no link there, and never waits. Throws Error
  // kCannotWrite, for example if something other than a regular file is there.
  explicit LockFile(std::string path);

  enum class Lock : std::uint8_t {
    kLocked,
    kHeld,     // Another LockFile, in any process, has the lock.
    kNoLocks,  // This file system, or the kernel, has no such locks.
  };

  // Tries to lock the file, and never waits. The lock ends with this object. Throws Error
  // kCannotWrite.
  Lock try_lock();

  // Replaces the contents from byte `offset` on, and returns when the disk has them. Throws Error
  // kCannotWrite.
  void write(std::string_view text, std::uint64_t offset = 0);

  // The contents. Throws Error kSystem.
  std::string read() const;

 private:
  std::string path_;
  Fd file_;
};

}  // namespace rota::os

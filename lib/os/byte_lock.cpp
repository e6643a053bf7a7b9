// Uses the locks of processes. All processes have one open file description, so its own locks would
// not keep them apart.
#include "os/byte_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/system_error.h"

namespace rota::os {
namespace {

struct flock lock_of(std::uint64_t begin, std::uint64_t bytes, short type = F_WRLCK) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(begin);
  lock.l_len = static_cast<off_t>(bytes);
  return lock;
}

}  // namespace

bool lock_byte(const Fd& file, std::uint64_t at) {
  struct flock lock = lock_of(at, 1);
  while (::fcntl(file.get(), F_SETLK, &lock) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EACCES) return false;
    throw_errno("fcntl(F_SETLK)");
  }
  return true;
}

void unlock_byte(const Fd& file, std::uint64_t at) noexcept {
  struct flock lock = lock_of(at, 1, F_UNLCK);
  while (::fcntl(file.get(), F_SETLK, &lock) != 0 && errno == EINTR) {
  }
}

std::optional<ByteLock> find_lock(const Fd& file, std::uint64_t begin, std::uint64_t bytes) {
  struct flock lock = lock_of(begin, bytes);
  while (::fcntl(file.get(), F_GETLK, &lock) != 0) {
    if (errno != EINTR) throw_errno("fcntl(F_GETLK)");
  }
  if (lock.l_type == F_UNLCK) return std::nullopt;
  return ByteLock{.at = static_cast<std::uint64_t>(lock.l_start), .pid = lock.l_pid};
}

}  // namespace rota::os

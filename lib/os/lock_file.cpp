// Locks a file with a lock of its open file description, and writes to it.
#include "os/lock_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/host.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

// Returns a lock from the beginning of a file to its end, however long the file becomes.
auto whole_file(int type) noexcept {
  struct flock lock {};
  lock.l_type = static_cast<decltype(lock.l_type)>(type);
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

FileLock try_lock(const Fd& file, const std::string& path) {
  auto lock = whole_file(F_WRLCK);
  while (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN:
      case EACCES:
        return FileLock::kHeld;
      case ENOLCK:
      case EOPNOTSUPP:
      case ENOSYS:
      case EINVAL:  // Linux before 3.15.
        return FileLock::kNoLocks;
      default:
        throw_cannot_write(path, "locked", errno);
    }
  }
  return FileLock::kLocked;
}

void unlock(const Fd& file) noexcept {
  auto lock = whole_file(F_UNLCK);
  ::fcntl(file.get(), F_OFD_SETLK, &lock);
}

bool is_locked(const std::string& path) noexcept {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW));
  auto lock = whole_file(F_WRLCK);
  return file && ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

LockFile::LockFile(std::string path) : path_(std::move(path)) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  file_ = Fd(::open(path_.c_str(), kFlags, 0666));
  if (!file_) throw_cannot_write(path_, "opened for writing", errno);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_cannot_write(path_, "examined", errno);
  if (!S_ISREG(status.st_mode)) throw_cannot_write(path_, "used as a file", EEXIST);
}

void LockFile::write(std::string_view text, std::uint64_t offset) {
  const std::uint64_t end = offset + text.size();
  std::size_t done = 0;
  while (done < text.size()) {
    if (is_beyond_file_limit(end)) throw_cannot_write(path_, "written", EFBIG);
    const ssize_t count = ::pwrite(file_.get(), text.data() + done, text.size() - done,
                                   static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_cannot_write(path_, "written", errno);
    done += static_cast<std::size_t>(count);
  }
  // If the file were cut first, a reader could find it shorter than what it has read.
  if (::ftruncate(file_.get(), static_cast<off_t>(end)) != 0) {
    throw_cannot_write(path_, "cut", errno);
  }
  if (::fsync(file_.get()) != 0) throw_cannot_write(path_, "synced", errno);
}

std::string LockFile::read() const {
  constexpr std::size_t kPieceBytes = 65536;
  std::string text;
  for (;;) {
    const std::size_t done = text.size();
    text.resize(done + kPieceBytes);
    const ssize_t count =
        ::pread(file_.get(), text.data() + done, kPieceBytes, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) {
      text.resize(done);
      continue;
    }
    if (count < 0) throw_unreadable(path_);
    text.resize(done + static_cast<std::size_t>(count));
    if (count == 0) return text;
  }
}

}  // namespace rota::os

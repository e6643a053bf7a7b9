// Writes to standard outputs and to files of output. An Output never blocks, even on a descriptor
// that other processes share in blocking mode.
#include "os/output.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <rota/error.h>

#include "os/host.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

constexpr std::size_t kMostAtOnce = 64 * 1024;

// A writable pipe always accepts this many bytes without blocking.
constexpr std::size_t kAlwaysFits = PIPE_BUF;

// Returns whether the output still exists and may have room again later.
bool is_for_want_of_room(int error, bool is_file) noexcept {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || (error == EIO && is_file);
}

// Waits until an output takes more bytes or has failed. A process that shares the output may have
// made it non-blocking.
void wait_for_room(int fd) noexcept {
  pollfd output{.fd = fd, .events = POLLOUT, .revents = 0};
  ::poll(&output, 1, -1);
}

// Returns whether the next byte would make a file larger than this process may make it.
bool is_at_file_limit(int fd) noexcept {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const bool appends = (::fcntl(fd, F_GETFL) & O_APPEND) != 0;
  const off_t begin = appends ? status.st_size : ::lseek(fd, 0, SEEK_CUR);
  return begin >= 0 && is_beyond_file_limit(static_cast<std::uint64_t>(begin) + 1);
}

[[noreturn]] void refuse_link(const std::string& path) {
  throw Error(ErrorCode::kSystem, path + ": this is a symbolic or hard link; remove it");
}

// Opening never waits, not even for a terminal or a pipe.
Fd open_regular(const Fd& folder, const std::string& named, const std::string& name) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  Fd file(::openat(folder.get(), name.c_str(), kFlags, 0666));
  if (!file && errno == ELOOP) refuse_link(named);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) throw_errno(named);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kSystem, named + ": this is not a regular file; remove it");
  }
  if (status.st_nlink > 1) refuse_link(named);
  return file;
}

}  // namespace

Output::Output(int fd) : fd_(fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return;
  const bool is_terminal = ::isatty(fd) != 0;
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::kSocket;
  } else if (S_ISFIFO(status.st_mode) || is_terminal) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    own_ = Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (own_) kind_ = Kind::kNonBlocking;
  } else {
    kind_ = Kind::kAlwaysReady;
  }
}

Output::WriteResult Output::write(std::string_view text) noexcept {
  const bool may_block = kind_ == Kind::kMayBlock;
  const std::size_t count = std::min(text.size(), may_block ? kAlwaysFits : kMostAtOnce);
  const ssize_t written = kind_ == Kind::kSocket
                              ? ::send(fd_, text.data(), count, MSG_DONTWAIT | MSG_NOSIGNAL)
                              : ::write(fd(), text.data(), count);
  if (written >= 0) return {.io = Io::kDone, .count = static_cast<std::size_t>(written)};
  if (errno == EAGAIN || errno == EINTR) return {};
  const bool is_file = kind_ == Kind::kAlwaysReady;
  if (is_for_want_of_room(errno, is_file)) return {.refusal = errno};
  return {.io = Io::kClosed};
}

bool print(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    if (is_at_file_limit(fd)) return false;
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (written >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    wait_for_room(fd);
  }
  return true;
}

Fd create_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) throw_errno(path);
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) refuse_link(path);
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder) throw_errno(path);
  return folder;
}

// Checks the file before emptying it, so that a refused file keeps its contents.
Fd create_file(const Fd& folder, const std::string& path, const std::string& name) {
  const std::string named = path + "/" + name;
  Fd file = open_regular(folder, named, name);
  if (::ftruncate(file.get(), 0) != 0) throw_errno(named);
  return file;
}

Fd continue_file(const Fd& folder, const std::string& path, const std::string& name) {
  const std::string named = path + "/" + name;
  Fd file = open_regular(folder, named, name);
  if (::lseek(file.get(), 0, SEEK_END) < 0) throw_errno(named);
  return file;
}

void write_file(const Fd& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) throw_errno("write");
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace rota::os

// Writing without ever blocking, also to a descriptor that others share and want to block.
#include "os/output.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <rota/error.h>

#include "os/system_error.h"

namespace rota::os {
namespace {

constexpr std::size_t kMostAtOnce = 64 * 1024;

// What a pipe that is writable at all takes without blocking.
constexpr std::size_t kAlwaysFits = PIPE_BUF;

// Who reads is there, and may find room again.
bool is_for_want_of_room(int error, bool is_file) noexcept {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || (error == EIO && is_file);
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

Fd create_file(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file && errno == ELOOP) {
    throw Error(ErrorCode::kSystem, path + ": a link is there, which is not followed; remove it");
  }
  if (!file) throw_errno(path);
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

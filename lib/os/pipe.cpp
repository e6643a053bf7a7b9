// Makes pipes, and reads from and writes to descriptors that do not block.
#include "os/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/system_error.h"

namespace rota::os {

std::pair<Fd, Fd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
  std::pair<Fd, Fd> pipe{Fd(ends[0]), Fd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl(O_NONBLOCK)");
  return pipe;
}

ReadResult read_available(int fd, std::span<char> buffer) {
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count > 0) return {Io::kDone, static_cast<std::size_t>(count)};
    if (count == 0) return {Io::kClosed, 0};
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return {Io::kWouldBlock, 0};
    throw_errno("read");
  }
}

WriteResult write_available(int fd, std::string_view text) noexcept {
  for (;;) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) return {Io::kDone, static_cast<std::size_t>(count)};
    if (errno == EINTR) continue;
    return {errno == EAGAIN ? Io::kWouldBlock : Io::kClosed, 0};
  }
}

Fd open_null() {
  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) throw_errno("/dev/null");
  return null;
}

void fill_standard_descriptors() {
  for (int number = 0; number <= 2; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // Read-only, so that writing to a closed standard output still fails as it should.
    const int null = ::open("/dev/null", O_RDONLY);
    if (null < 0) throw_errno("/dev/null");
  }
}

}  // namespace rota::os

// Makes pairs of stream sockets. Without them, MPI in a rank could not ask rotarun about the other
// ranks.
#include "os/stream_pair.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "os/system_error.h"

namespace rota::os {
namespace {

Io io_of_failure() noexcept { return errno == EAGAIN ? Io::kWouldBlock : Io::kClosed; }

}  // namespace

std::pair<Fd, Fd> make_stream_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("socketpair");
  std::pair<Fd, Fd> pair{Fd(ends[0]), Fd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl(O_NONBLOCK)");
  return pair;
}

ReadResult receive_available(int socket, std::span<char> buffer) noexcept {
  for (;;) {
    const ssize_t count = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) return {Io::kDone, static_cast<std::size_t>(count)};
    if (count == 0) return {Io::kClosed, 0};
    if (errno != EINTR) return {io_of_failure(), 0};
  }
}

WriteResult send_available(int socket, std::string_view text) noexcept {
  for (;;) {
    const ssize_t count = ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) return {Io::kDone, static_cast<std::size_t>(count)};
    if (errno != EINTR) return {io_of_failure(), 0};
  }
}

}  // namespace rota::os

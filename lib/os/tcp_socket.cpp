// Non-blocking calls whose outcomes are values.
#include "os/tcp_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "os/address.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

// Would-block moves nothing; anything else that fails is the end of the connection.
Moved from_result(ssize_t result) {
  if (result >= 0) return {static_cast<std::size_t>(result), false, {}};
  if (errno == EAGAIN || errno == EINTR) return {};
  return {0, true, std::generic_category().message(errno)};
}

}  // namespace

Connecting start_connect(const std::string& address) {
  const Address target = parse_address(address);
  Fd socket(::socket(target.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw_errno("socket");
  if (::connect(socket.get(), target.get(), target.bytes()) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    return {std::move(socket), std::generic_category().message(errno)};
  }
  return {std::move(socket), std::nullopt};
}

std::optional<std::string> connect_result(int socket) {
  int error = 0;
  socklen_t bytes = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  if (error == 0) return std::nullopt;
  return std::generic_category().message(error);
}

Fd accept_connection(int listener) {
  for (;;) {
    Fd socket(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket || errno == EAGAIN) return socket;
    if (errno != EINTR && errno != ECONNABORTED) throw_errno("accept");
  }
}

void set_no_delay(int socket) {
  const int on = 1;
  if (::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    throw_errno("setting TCP_NODELAY");
  }
}

void end_sending(int socket) noexcept { ::shutdown(socket, SHUT_WR); }

Moved send_some(int socket, std::span<const std::byte> first, std::span<const std::byte> second) {
  iovec parts[2] = {{const_cast<std::byte*>(first.data()), first.size()},
                    {const_cast<std::byte*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = first.empty() ? parts + 1 : parts;
  message.msg_iovlen = first.empty() || second.empty() ? 1 : 2;
  return from_result(::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

Moved receive_some(int socket, std::span<std::byte> into) {
  const ssize_t result = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
  if (result == 0 && !into.empty()) return {0, true, "closed by the peer"};
  return from_result(result);
}

}  // namespace rota::os

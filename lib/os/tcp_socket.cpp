// Makes socket calls that do not block and that return their outcome as a value.
#include "os/tcp_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "os/message_socket.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

// A call that would block or lacks memory moves nothing. Any other failure ends the connection.
Moved from_result(ssize_t result) {
  if (result >= 0) return {.bytes = static_cast<std::size_t>(result)};
  if (errno == EAGAIN || errno == EINTR) return {};
  if (errno == ENOBUFS || errno == ENOMEM) return {.lacks_memory = true};
  return {.closed = true, .reason = std::generic_category().message(errno)};
}

Moved receive(int socket, std::span<std::byte> into, int flags) {
  const ssize_t result = ::recv(socket, into.data(), into.size(), flags);
  if (result == 0 && !into.empty()) return {.closed = true, .reason = "closed by the peer"};
  return from_result(result);
}

// Returns false for a local socket, which has no TCP options.
bool set_for_tcp(int socket, int option, int value, const char* name) {
  if (::setsockopt(socket, IPPROTO_TCP, option, &value, sizeof value) == 0) return true;
  if (errno == EOPNOTSUPP) return false;
  throw_errno(std::string("setting ") + name);
}

// Returns whether both ends of the connection are this one socket.
bool is_connected_to_itself(int socket) noexcept {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_bytes = sizeof own;
  socklen_t peer_bytes = sizeof peer;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_bytes) == 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) == 0 &&
         own.ss_family != AF_UNIX && own_bytes == peer_bytes &&
         std::memcmp(&own, &peer, own_bytes) == 0;
}

// Makes the close of a connection free its port at once, without a wait for late packets.
void forget_at_close(int socket) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace

Connecting start_connect(const Address& target) {
  Fd socket(::socket(target.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // A name may have addresses of a family that this host lacks, besides others.
  if (!socket && errno == EAFNOSUPPORT) {
    return {std::move(socket), std::generic_category().message(EAFNOSUPPORT)};
  }
  if (!socket) throw_errno("socket");
  if (::connect(socket.get(), target.get(), target.bytes()) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    return {std::move(socket), std::generic_category().message(errno)};
  }
  // Any user can claim any local name. A listener of another user belongs to another job, or is an
  // attacker.
  if (target.family() == AF_UNIX && !is_of_own_user(socket.get())) {
    return {std::move(socket), "a process of another user listens there"};
  }
  return {std::move(socket), std::nullopt};
}

std::optional<std::string> connect_result(int socket) {
  auto failure = connection_failure(socket);
  if (failure || !is_connected_to_itself(socket)) return failure;
  forget_at_close(socket);
  return std::generic_category().message(ECONNREFUSED);
}

bool has_peer(int socket) noexcept {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  return ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0;
}

std::optional<std::string> connection_failure(int socket) {
  int error = 0;
  socklen_t bytes = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  if (error == 0) return std::nullopt;
  return std::generic_category().message(error);
}

Accepted accept_connection(int listener) {
  constexpr int kMostGone = 64;
  for (int gone = 0; gone < kMostGone; ++gone) {
    sockaddr_storage caller{};
    socklen_t bytes = sizeof caller;
    Fd socket(::accept4(listener, reinterpret_cast<sockaddr*>(&caller), &bytes,
                        SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool is_local = socket && caller.ss_family == AF_UNIX;
    if (is_local && !is_of_own_user(socket.get())) continue;
    if (socket) return {.socket = std::move(socket), .caller = without_mapping(caller, bytes)};
    if (errno == EAGAIN) return {};
    switch (errno) {
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:
        return {.lack = std::generic_category().message(errno)};
      case EBADF:
      case EINVAL:
      case ENOTSOCK:
        throw_errno("accept");
      default:
        break;  // A network error of a peer that is gone.
    }
  }
  return {};
}

void keep_alive(int socket) {
  constexpr int kIdleSeconds = 30;
  constexpr int kProbeSeconds = 10;
  constexpr int kProbes = 3;
  if (!set_for_tcp(socket, TCP_KEEPIDLE, kIdleSeconds, "TCP_KEEPIDLE")) return;
  set_for_tcp(socket, TCP_KEEPINTVL, kProbeSeconds, "TCP_KEEPINTVL");
  set_for_tcp(socket, TCP_KEEPCNT, kProbes, "TCP_KEEPCNT");
  const int on = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) != 0) {
    throw_errno("setting SO_KEEPALIVE");
  }
}

std::optional<base::Duration> unacknowledged_for(int socket) noexcept {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  const bool is_known = ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0;
  if (!is_known || info.tcpi_unacked == 0) return std::nullopt;
  // A packet with data that acknowledges nothing new does not count as an acknowledgement.
  return std::chrono::milliseconds(std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv));
}

void set_no_delay(int socket) { set_for_tcp(socket, TCP_NODELAY, 1, "TCP_NODELAY"); }

bool has_hung_up(int socket) noexcept {
  pollfd item{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&item, 1, 0) > 0;
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
  return receive(socket, into, MSG_DONTWAIT);
}

Moved peek_some(int socket, std::span<std::byte> into) {
  return receive(socket, into, MSG_DONTWAIT | MSG_PEEK);
}

}  // namespace rota::os

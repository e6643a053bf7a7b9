// Sends and receives sequenced packets over local sockets, with descriptors as ancillary data.
#include "os/message_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "os/file.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(kMaxMessageFds * sizeof(int));

struct alignas(cmsghdr) ControlBuffer {
  char bytes[kControlBytes];
};

void take_fds(const msghdr& header, std::vector<Fd>& fds) {
  auto* mutable_header = const_cast<msghdr*>(&header);
  for (cmsghdr* c = CMSG_FIRSTHDR(mutable_header); c; c = CMSG_NXTHDR(mutable_header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(c) + i * sizeof(int), sizeof number);
      fds.emplace_back(number);
    }
  }
}

Fd open_message_socket() {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw_errno("socket");
  return socket;
}

}  // namespace

std::pair<Fd, Fd> make_message_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    throw_errno("socketpair");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

bool is_message_socket(int fd) noexcept {
  int type = 0;
  socklen_t bytes = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET;
}

int maker_of_pair(int fd) noexcept {
  ucred maker{};
  socklen_t bytes = sizeof maker;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &maker, &bytes) == 0 ? maker.pid : 0;
}

bool is_of_own_user(int socket) noexcept {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         peer.uid == own_user();
}

void close_on_exec(int fd) {
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) throw_errno("fcntl");
}

void keep_on_exec(int fd) {
  if (::fcntl(fd, F_SETFD, 0) != 0) throw_errno("fcntl");
}

Fd listen_for_messages(const Address& name) {
  Fd socket = open_message_socket();
  if (::bind(socket.get(), name.get(), name.bytes()) != 0) throw_errno("bind to " + name.to_text());
  if (::listen(socket.get(), SOMAXCONN) != 0) throw_errno("listen at " + name.to_text());
  return socket;
}

std::optional<Fd> accept_messages(int listener) {
  for (;;) {
    Fd socket(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket && is_of_own_user(socket.get())) return socket;
    if (socket || errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return std::nullopt;
    throw_errno("accept");
  }
}

std::optional<Fd> connect_for_messages(const Address& name) {
  Fd socket = open_message_socket();
  while (::connect(socket.get(), name.get(), name.bytes()) != 0) {
    if (errno == EAGAIN) return std::nullopt;
    if (errno != EINTR) throw_errno("connect to " + name.to_text());
  }
  if (is_of_own_user(socket.get())) return socket;
  throw Error(ErrorCode::kSystem,
              "connect to " + name.to_text() + ": a process of another user listens there");
}

Io send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  ROTA_ASSERT(!bytes.empty() && bytes.size() <= kMaxMessageBytes);
  ROTA_ASSERT(fds.size() <= kMaxMessageFds);
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  ControlBuffer control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    std::memset(&control, 0, sizeof control);
    header.msg_control = control.bytes;
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Io::kDone;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == ETOOMANYREFS) return Io::kWouldBlock;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return Io::kClosed;
    throw_errno("sendmsg");
  }
}

Io receive_message(int socket, std::vector<std::byte>& bytes, std::vector<Fd>& fds) {
  bytes.resize(kMaxMessageBytes);
  fds.clear();
  iovec part{bytes.data(), bytes.size()};
  ControlBuffer control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  for (;;) {
    const ssize_t received = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (received < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return Io::kWouldBlock;
      if (errno == ECONNRESET) continue;  // The peer closed without reading all; read what it sent.
      throw_errno("recvmsg");
    }
    take_fds(header, fds);
    if (received == 0) return Io::kClosed;
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
      throw Error(ErrorCode::kSystem,
                  "recvmsg: the message is too large, or this process may open no more files "
                  "(ulimit -n)");
    }
    bytes.resize(static_cast<std::size_t>(received));
    return Io::kDone;
  }
}

}  // namespace rota::os

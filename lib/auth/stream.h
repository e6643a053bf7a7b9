// A connection as its users see it: the bare socket, or TLS over it. What is asked of it costs one
// branch more than asking the socket.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "auth/tls.h"
#include "os/fd.h"
#include "os/tcp_socket.h"

namespace rota::auth {

class Stream {
 public:
  Stream() = default;
  Stream(os::Fd socket) noexcept  // NOLINT: a bare socket is one, as it stands.
      : socket_(std::move(socket)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
  int fd() const noexcept { return socket_.get(); }
  void reset() noexcept {
    tls_.reset();
    socket_.reset();
  }

  // From here on all that is said is TLS's, its own beginning first. Throws Error kSystem.
  void encrypt(Tls::Side side, const Key& key) {
    tls_ = std::make_unique<Tls>(socket_.get(), side, key);
  }
  bool is_encrypted() const noexcept { return tls_ != nullptr; }
  Tls* tls() noexcept { return tls_.get(); }
  const Tls* tls() const noexcept { return tls_.get(); }

  // Neither blocks nor raises SIGPIPE. What was not sent has to be what is sent next.
  os::Moved send(std::span<const std::byte> first, std::span<const std::byte> second) {
    return tls_ ? tls_->send(first, second) : os::send_some(socket_.get(), first, second);
  }
  os::Moved receive(std::span<std::byte> into) {
    return tls_ ? tls_->receive(into) : os::receive_some(socket_.get(), into);
  }

  // It is worth to receive although the socket is not readable. Never after a receive() that left
  // room.
  bool has_unread() const noexcept { return tls_ && tls_->has_unread(); }

 private:
  os::Fd socket_;
  std::unique_ptr<Tls> tls_;  // Goes before the socket.
};

}  // namespace rota::auth

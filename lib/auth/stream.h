// Sends and receives over a connection: over the bare socket, or over TLS on the socket. A call
// costs one branch more than a call of the socket.
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
  Stream(os::Fd socket) noexcept  // NOLINT: implicit, a bare socket is a Stream.
      : socket_(std::move(socket)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
  int fd() const noexcept { return socket_.get(); }
  void reset() noexcept {
    tls_.reset();
    socket_.reset();
  }

  // From here on TLS sends and receives everything, its own handshake first. Throws Error kSystem.
  void encrypt(Tls::Side side, const Key& key) {
    tls_ = std::make_unique<Tls>(socket_.get(), side, key);
  }
  bool is_encrypted() const noexcept { return tls_ != nullptr; }
  Tls* tls() noexcept { return tls_.get(); }
  const Tls* tls() const noexcept { return tls_.get(); }

  // Neither send() nor receive() blocks or raises SIGPIPE. The next send() must begin with the
  // bytes that were not sent.
  os::Moved send(std::span<const std::byte> first, std::span<const std::byte> second) {
    return tls_ ? tls_->send(first, second) : os::send_some(socket_.get(), first, second);
  }
  os::Moved receive(std::span<std::byte> into) {
    return tls_ ? tls_->receive(into) : os::receive_some(socket_.get(), into);
  }

  // Returns whether receive() has bytes although the socket is not readable. Never true after a
  // receive() that did not fill `into`.
  bool has_unread() const noexcept { return tls_ && tls_->has_unread(); }

 private:
  os::Fd socket_;
  std::unique_ptr<Tls> tls_;  // Destroyed before the socket.
};

}  // namespace rota::auth

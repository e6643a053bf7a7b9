// A connection carries whole messages between a rank and the coordinator, in both directions and in
// order.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "os/fd.h"
#include "os/message_socket.h"

namespace rota::rendezvous {

// No function blocks. Descriptors can be sent only within a host.
class Connection {
 public:
  virtual ~Connection() = default;

  // Returns the descriptor to poll, for both directions.
  virtual int fd() const noexcept = 0;

  // send() and receive() work as os::send_message and os::receive_message do. A message that send()
  // has accepted may leave this process during a later send() or receive(). So while is_sending(),
  // call send() or receive() when the connection is writable.
  virtual os::Io send(std::span<const std::byte> bytes, std::span<const int> fds) = 0;
  virtual os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) = 0;
  virtual bool is_sending() const noexcept = 0;

  // Returns whether receive() may return a message although the connection is not readable.
  virtual bool has_unread() const noexcept { return false; }
};

// A connection within a host, over a pair of message sockets.
class LocalConnection final : public Connection {
 public:
  explicit LocalConnection(os::Fd socket) noexcept : socket_(std::move(socket)) {}

  int fd() const noexcept override { return socket_.get(); }
  os::Io send(std::span<const std::byte> bytes, std::span<const int> fds) override {
    return os::send_message(socket_.get(), bytes, fds);
  }
  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) override {
    return os::receive_message(socket_.get(), bytes, fds);
  }
  bool is_sending() const noexcept override { return false; }

 private:
  os::Fd socket_;
};

}  // namespace rota::rendezvous

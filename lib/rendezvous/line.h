// What carries whole messages between a rank and the coordinator, in both directions and in order.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "os/fd.h"
#include "os/message_socket.h"

namespace rota::rendezvous {

// Nothing here blocks. Descriptors travel on a host only.
class Line {
 public:
  virtual ~Line() = default;

  // To wait for; both directions.
  virtual int fd() const noexcept = 0;

  // As os::send_message and os::receive_message. What was taken for sending may leave later, in the
  // course of later calls; while `is_sending` it is worth a call when the line is writable.
  virtual os::Io send(std::span<const std::byte> bytes, std::span<const int> fds) = 0;
  virtual os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) = 0;
  virtual bool is_sending() const noexcept = 0;

  // It is worth to receive although the line is not readable.
  virtual bool has_unread() const noexcept { return false; }
};

// Within a host: a pair of message sockets.
class LocalLine final : public Line {
 public:
  explicit LocalLine(os::Fd socket) noexcept : socket_(std::move(socket)) {}

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

// One connection. Bytes to be reduced land in a slot of ours first; all others go straight from and
// into the caller's memory.
#pragma once
#include <cstddef>
#include <string>

#include <rota/memory.h>

#include "os/fd.h"
#include "transport/channel.h"

namespace rota::transport::tcp {

class Channel final : public transport::Channel {
 public:
  // `socket` is connected, non-blocking and has shaken hands.
  Channel(os::Fd socket, std::size_t peer);

  void start_send(const Header& header, std::span<const std::byte> payload) override;
  Progress progress_send() override;
  const Header* incoming() override;
  std::span<const std::byte> peek() override;
  void release(std::size_t bytes) override;
  std::size_t receive(std::span<std::byte> into) override;
  void finish_receive() override;

  int fd() const noexcept { return socket_.get(); }
  bool sending() const noexcept { return header_left_ + payload_.size() > 0; }
  // The last look for bytes found fewer than it asked for: worth waiting for more.
  bool starved() const noexcept { return starved_; }
  void close() noexcept;

 private:
  std::size_t pull(std::span<std::byte> into);
  [[noreturn]] void throw_lost(const std::string& reason) const;

  os::Fd socket_;
  std::size_t peer_;

  // Sending: what the kernel has not taken yet.
  Header out_;
  std::size_t header_left_ = 0;
  std::span<const std::byte> payload_;

  // Receiving.
  Header in_;
  std::size_t header_arrived_ = 0;
  std::size_t pulled_ = 0;      // Payload bytes of this message that left the kernel.
  Block slot_;                  // Made at the first peek().
  std::size_t slot_first_ = 0;  // The slot holds [first, last) unused.
  std::size_t slot_last_ = 0;
  bool starved_ = false;
};

}  // namespace rota::transport::tcp

// One connection. Bytes to be reduced land in a slot of ours, where they are read; all others go
// straight from and into the caller's memory. Nothing is copied after it has left the kernel; where
// the connection is encrypted, each byte is once on either side.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <rota/memory.h>

#include "auth/stream.h"
#include "transport/channel.h"

namespace rota::transport::tcp {

class Channel final : public transport::Channel {
 public:
  // `stream` is connected, non-blocking and has shaken hands.
  Channel(auth::Stream stream, std::size_t peer);

  void start_send(const Header& header, std::span<const std::byte> payload) override;
  Progress progress_send() override;
  const Header* incoming() override;
  std::span<const std::byte> peek() override;
  void release(std::size_t bytes) override;
  std::size_t receive(std::span<std::byte> into) override;
  void finish_receive() override;
  std::string_view trouble() const noexcept override;

  int fd() const noexcept { return stream_.fd(); }
  bool sending() const noexcept { return header_left_ + payload_.size() > 0; }
  // What is to be sent waits for room in the socket, rather than for memory of this host's.
  bool waits_for_room() const noexcept { return sending() && !send_lacks_memory_; }
  // The last look for bytes found fewer than it asked for: worth waiting for more.
  bool starved() const noexcept { return starved_; }
  void close() noexcept;

  // As in transport::Transport.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t staged_bytes() const noexcept {
    return staged_bytes_.load(std::memory_order_relaxed);
  }

 private:
  std::size_t pull(std::span<std::byte> into);
  [[noreturn]] void throw_lost(const std::string& reason) const;

  auth::Stream stream_;
  std::size_t peer_;

  // Sending: what the kernel has not taken yet.
  Header out_;
  std::size_t header_left_ = 0;
  std::span<const std::byte> payload_;
  bool send_lacks_memory_ = false;  // Of this host's, as the last call said.
  std::atomic<std::uint64_t> sent_bytes_{0};

  // Receiving.
  Header in_;
  std::size_t header_arrived_ = 0;
  std::size_t pulled_ = 0;      // Payload bytes of this message that left the kernel.
  Block slot_;                  // Made at the first peek().
  std::size_t slot_first_ = 0;  // The slot holds [first, last) unused.
  std::size_t slot_last_ = 0;
  bool starved_ = false;
  bool receive_lacks_memory_ = false;
  std::atomic<std::uint64_t> staged_bytes_{0};
};

}  // namespace rota::transport::tcp

// A channel is one connection. Bytes to be reduced are received into a slot of the channel and are
// read there. All other bytes are sent from and received into the memory of the caller. No byte is
// copied after it has left the kernel. With encryption, each side copies each byte once.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <rota/memory.h>

#include "auth/stream.h"
#include "base/time.h"
#include "transport/channel.h"

namespace rota::transport::tcp {

class SocketChannel final : public transport::Channel {
 public:
  // `stream` is connected and non-blocking, and its handshake is complete.
  SocketChannel(auth::Stream stream, std::size_t peer);

  void start_send(const Header& header, std::span<const std::byte> payload) override;
  void send_more(std::span<const std::byte> payload) override;
  Progress progress_send() override;
  const Header* incoming() override;
  std::span<const std::byte> peek() override;
  void release(std::size_t bytes) override;
  std::size_t receive(std::span<std::byte> into) override;
  void finish_receive() override;
  std::string_view trouble() const noexcept override;

  int fd() const noexcept { return stream_.fd(); }
  bool sending() const noexcept { return header_left_ + payload_.size() > 0; }
  // Returns whether sending waits for room in the socket, and not for memory of this host. A send
  // that has failed waits for the reads.
  bool waits_for_room() const noexcept {
    return sending() && !send_lacks_memory_ && !send_failed_at_;
  }
  // Returns whether the last read got fewer bytes than it asked for: then it makes sense to wait
  // for more.
  bool starved() const noexcept { return starved_; }
  void close() noexcept;

  // The next two functions count as those of transport::Transport do.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t staged_bytes() const noexcept {
    return staged_bytes_.load(std::memory_order_relaxed);
  }

 private:
  std::size_t pull(std::span<std::byte> into);
  Progress leave_it_to_reads(const std::string& reason);
  [[noreturn]] void throw_lost(const std::string& reason) const;

  auth::Stream stream_;
  std::size_t peer_;

  // Sending: the bytes that the kernel has not accepted yet.
  Header out_;
  std::size_t header_left_ = 0;
  std::span<const std::byte> payload_;
  bool send_lacks_memory_ = false;                 // At the last call, this host lacked memory.
  std::optional<base::TimePoint> send_failed_at_;  // Set when the peer takes nothing any more.
  std::string send_failure_;                       // Why; empty before.
  std::atomic<std::uint64_t> sent_bytes_{0};

  // Receiving.
  Header in_;
  std::size_t header_arrived_ = 0;
  std::size_t pulled_ = 0;      // Payload bytes of this message read so far.
  Block slot_;                  // Made at the first peek().
  std::size_t slot_first_ = 0;  // Unused bytes of the slot: [first, last).
  std::size_t slot_last_ = 0;
  bool starved_ = false;
  bool receive_lacks_memory_ = false;
  std::atomic<std::uint64_t> staged_bytes_{0};
};

}  // namespace rota::transport::tcp

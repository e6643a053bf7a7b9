// A channel is a pair of mailboxes. The receiver reads payload in place if the payload is in the
// sender's arena. Other payload goes through a staging ring in the sender's arena, which costs a
// copy.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <rota/memory.h>

#include "transport/channel.h"
#include "transport/shm/domain.h"

namespace rota::transport::shm {

// ring() is called after every change that a peer may be waiting for, once the change is visible.
class Doorbell {
 public:
  virtual ~Doorbell() = default;
  virtual void ring() = 0;
};

class MailboxChannel final : public transport::Channel {
 public:
  struct Ends {
    Mailbox& out;
    Mailbox& in;
    std::span<std::byte> own_bytes;  // The arenas that contain payload.
    std::span<std::byte> peer_bytes;
    std::size_t peer;
    const AbortWord& abort_word;
  };
  MailboxChannel(const Ends& ends, memory::Arena& arena) noexcept;

  // From now on the channel rings `doorbell` for the peer. `doorbell` must outlive the channel.
  void set_doorbell(Doorbell& doorbell) noexcept { doorbell_ = &doorbell; }

  void start_send(const Header& header, std::span<const std::byte> payload) override;
  void send_more(std::span<const std::byte> payload) override;
  Progress progress_send() override;
  const Header* incoming() override;
  std::span<const std::byte> peek() override;
  void release(std::size_t bytes) override;
  std::size_t receive(std::span<std::byte> into) override;
  bool is_intact() const noexcept override { return !abort_word_.is_set(); }
  void finish_receive() override;

  // The next two functions count as those of transport::Transport do.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t staged_bytes() const noexcept {
    return staged_bytes_.load(std::memory_order_relaxed);
  }

 private:
  bool in_place(std::span<const std::byte> payload) const noexcept;
  void stage(std::span<const std::byte> payload) noexcept;
  Progress fill_ring() noexcept;
  void ring() {
    if (doorbell_) doorbell_->ring();
  }

  Mailbox& out_;
  Mailbox& in_;
  memory::Arena& arena_;
  std::span<std::byte> own_bytes_;
  std::span<std::byte> peer_bytes_;
  std::size_t peer_;
  const AbortWord& abort_word_;
  Doorbell* doorbell_ = nullptr;  // Null if a sleeping peer soon checks its memory in any case.

  // Sending.
  std::uint64_t sent_ = 0;               // Messages published.
  std::span<const std::byte> to_stage_;  // The bytes left to copy into the ring.
  std::uint64_t not_given_ = 0;          // Bytes of the message that send_more() will bring.
  std::uint64_t staged_ = 0;             // Position in the ring, never wrapped.
  Block ring_;                           // Made at the first payload that needs it.
  std::atomic<std::uint64_t> sent_bytes_{0};
  std::atomic<std::uint64_t> staged_bytes_{0};

  // Receiving.
  std::uint64_t received_ = 0;  // Messages taken.
  std::uint64_t offset_ = 0;    // Bytes taken of the arriving message.
};

}  // namespace rota::transport::shm

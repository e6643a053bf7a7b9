// Sends a message to one peer as a header and pieces of the payload, each of them an MPI message.
// The receive of the next header is posted ahead. Pieces arrive in the caller's memory, or, if the
// caller wants to add them to its values, in slots of the channel.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/memory.h>

#include "transport/channel.h"
#include "transport/mpi/world.h"

namespace rota::transport::mpi {

class MpiChannel final : public transport::Channel {
 public:
  // Where the peer is: its process, and the tags of both directions. A tag is for headers, and the
  // tag after it for pieces.
  struct Ends {
    int process = 0;
    int out_tag = 0;
    int in_tag = 0;
    std::size_t peer = 0;  // Its rank in the group.
  };

  // The largest piece. Both ends cut a payload in the same way.
  static constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

  MpiChannel(const World& world, const Ends& ends) noexcept : world_(world), ends_(ends) {}

  void start_send(const Header& header, std::span<const std::byte> payload) override;
  void send_more(std::span<const std::byte> payload) override;
  Progress progress_send() override;
  const Header* incoming() override;
  std::span<const std::byte> peek() override;
  void release(std::size_t bytes) override;
  std::size_t receive(std::span<std::byte> into) override;
  void finish_receive() override;

  // Asks MPI to end all receives. Must not be called after MPI_Finalize.
  void cancel() noexcept;
  // Finds out which operations have ended after cancel(). Returns true if all have ended.
  bool settle() noexcept;
  // Returns whether MPI may still use a caller's buffer.
  bool keeps_buffers() const noexcept;

  // The next two functions count as those of transport::Transport do.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t staged_bytes() const noexcept {
    return staged_bytes_.load(std::memory_order_relaxed);
  }

 private:
  // How many pieces are under way in each direction.
  static constexpr std::size_t kAhead = 4;
  static constexpr std::size_t kSlots = 2;

  // An MPI message under way.
  struct Part {
    Handle request = 0;
    std::byte* at = nullptr;
    std::size_t bytes = 0;
  };

  // The parts under way in one direction, in their order.
  class Parts {
   public:
    bool is_empty() const noexcept { return count_ == 0; }
    std::size_t count() const noexcept { return count_; }
    Part& front() noexcept { return parts_[first_]; }
    Part& add() noexcept { return parts_[(first_ + count_++) % parts_.size()]; }
    void pop() noexcept {
      first_ = (first_ + 1) % parts_.size();
      --count_;
    }

   private:
    std::array<Part, kAhead + 1> parts_{};  // A header, and pieces.
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };

  void check(const char* function, int error) const;
  bool has_ended(Part& part) const;
  void cancel(Part& part) noexcept;
  void post_receive(Part& part, std::byte* at, std::size_t bytes, int tag) const;
  void post_piece(std::byte* at);
  std::size_t next_piece() const noexcept;

  const World& world_;
  Ends ends_;

  // Sending.
  Header out_;
  std::span<const std::byte> unsent_;  // The payload that MPI has not been given yet.
  Parts sends_;
  std::atomic<std::uint64_t> sent_bytes_{0};

  // Receiving. Each payload byte is first asked for, then taken.
  Header in_;
  Part header_;
  bool header_is_asked_ = false;
  bool header_has_arrived_ = false;
  Parts pieces_;
  std::size_t asked_ = 0;
  std::size_t taken_ = 0;
  Block slots_;                        // Made at the first peek().
  std::size_t slot_ = 0;               // The slot of the next piece.
  bool fills_slots_ = false;           // The pieces under way arrive in slots.
  std::span<const std::byte> peeked_;  // The unused bytes of the piece that peek() shows.
  std::atomic<std::uint64_t> staged_bytes_{0};
};

}  // namespace rota::transport::mpi

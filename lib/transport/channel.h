// Both directions to one peer. Knows bytes and their order, never what they mean.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rota::transport {

// Goes before every message. The signature is the upper layer's: carried, never read. A change
// raises auth::DataFormat::frame_version.
struct Header {
  std::uint64_t bytes = 0;  // Of the payload; may be 0.
  std::array<std::uint64_t, 4> signature{};
};
static_assert(sizeof(Header) == 40);

enum class Progress : std::uint8_t { kNone, kSome, kDone };

// Messages arrive whole and in order; one at a time is under way in each direction. Nothing here
// blocks, and would-block is a value. A connection that ended throws Error kPeerLost, once all
// that had arrived before has been handed out.
class Channel {
 public:
  virtual ~Channel() = default;

  // Starts a message. `payload` is lent until progress_send() has said kDone.
  virtual void start_send(const Header& header, std::span<const std::byte> payload) = 0;
  virtual Progress progress_send() = 0;

  // The header of the message that is arriving, or nullptr before it has. Stays valid until
  // finish_receive().
  virtual const Header* incoming() = 0;

  // Two ways to take the payload, in any mixture:
  // a view of what has arrived, in the transport's own memory or the peer's, then release() of as
  // much as was used, from its front; the view is aligned for the elements that were released.
  virtual std::span<const std::byte> peek() = 0;
  virtual void release(std::size_t bytes) = 0;
  // or straight into the caller's memory; returns how many bytes landed.
  virtual std::size_t receive(std::span<std::byte> into) = 0;

  // Whether what has been taken so far is what the peer sent: where payload is read in the peer's
  // own memory, the peer may have failed meanwhile, and have its memory back.
  virtual bool is_intact() const noexcept { return true; }

  // What keeps it from moving, where that is not the peer's doing: a clause, or empty.
  virtual std::string_view trouble() const noexcept { return {}; }

  // To be called once when the whole payload has been taken, also when it is empty.
  virtual void finish_receive() = 0;
};

}  // namespace rota::transport

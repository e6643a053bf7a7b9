// Carries bytes to and from one peer. A channel knows bytes and their order, never their meaning.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rota::transport {

// Precedes every message. The signature belongs to the upper layer: a channel carries it and never
// reads it. If you change this struct, raise auth::DataFormat::frame_version.
struct Header {
  std::uint64_t bytes = 0;  // Of the payload; may be 0.
  std::array<std::uint64_t, 4> signature{};
};
static_assert(sizeof(Header) == 40);

enum class Progress : std::uint8_t { kNone, kSome, kDone };

// Messages arrive whole and in order. Each direction carries one message at a time. No call here
// blocks, and would-block is a return value. When the connection has ended, the channel first hands
// out all data that has arrived. After that, a call throws Error kPeerLost. If nobody takes the
// data, progress_send() throws this Error after a while. The first calls may allocate memory, and
// then throw Error kNoMemory. Over MPI, calls throw Error kClosed after MPI_Finalize.
class Channel {
 public:
  virtual ~Channel() = default;

  // Starts a message. `payload` is borrowed until progress_send() returns kDone. It may be only the
  // first part of the message: then the caller gives each further part with send_more(), after
  // progress_send() has returned kDone for the part before. All parts except the last have a
  // multiple of kPartGrain bytes.
  virtual void start_send(const Header& header, std::span<const std::byte> payload) = 0;
  virtual void send_more(std::span<const std::byte> payload) = 0;
  virtual Progress progress_send() = 0;
  static constexpr std::size_t kPartGrain = std::size_t{256} * 1024;

  // Returns the header of the arriving message, or nullptr before the header has arrived. The
  // header stays valid until finish_receive().
  virtual const Header* incoming() = 0;

  // A caller can read the payload with two functions, and may mix them. The first is peek(): it
  // returns a view of the bytes that have arrived, in the memory of the transport or of the peer.
  // release() then gives back the used bytes at the front of the view. If the caller releases whole
  // elements only, the view stays aligned for them.
  virtual std::span<const std::byte> peek() = 0;
  virtual void release(std::size_t bytes) = 0;
  // The second is receive(): it writes into the memory of the caller, and returns the number of
  // bytes that it wrote.
  virtual std::size_t receive(std::span<std::byte> into) = 0;

  // Returns whether the payload bytes that the caller has read so far are the bytes that the peer
  // sent. If false, the payload was in the memory of a peer that may have failed, and the peer's
  // program may have changed that memory.
  virtual bool is_intact() const noexcept { return true; }

  // Returns why the channel cannot move data, if the peer is not the cause. The text is a clause of
  // a sentence, or empty.
  virtual std::string_view trouble() const noexcept { return {}; }

  // Ends the arriving message. Must be called once for each message, when the whole payload has
  // been read, even if the payload is empty.
  virtual void finish_receive() = 0;
};

}  // namespace rota::transport

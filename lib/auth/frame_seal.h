// Proves for each frame of a stream that the peer sent this frame, unchanged and at this position
// of the stream.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "auth/key.h"

struct evp_mac_ctx_st;  // A type of OpenSSL.

namespace rota::auth {

// Each direction has its own seal: the sender makes the seal from SessionKeys::to_peer, the
// receiver from SessionKeys::from_peer. The seal numbers the frames, so a frame that is repeated,
// lost or moved does not match.
class FrameSeal {
 public:
  static constexpr std::size_t kTagBytes = 16;
  using Tag = std::array<std::byte, kTagBytes>;

  // Throws Error kSystem.
  explicit FrameSeal(const Key& key);

  // Makes the tag of the next frame. `frame` is the whole frame without its tag: length, type and
  // payload.
  Tag next_tag(std::span<const std::byte> frame);

  // Returns whether `tag` is the tag of the next frame. Must be called before any part of the frame
  // except its length is read. After a false result the stream must be closed: no later frame
  // matches.
  bool matches_next(std::span<const std::byte> frame, std::span<const std::byte, kTagBytes> tag);

 private:
  struct FreeMac {
    void operator()(evp_mac_ctx_st* mac) const noexcept;
  };

  std::unique_ptr<evp_mac_ctx_st, FreeMac> mac_;
  std::uint64_t sequence_ = 0;
  bool is_broken_ = false;
};

}  // namespace rota::auth

// Proves of each frame of a stream that the peer sent it, unchanged and in this place.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "auth/key.h"

struct evp_mac_ctx_st;  // OpenSSL's.

namespace rota::auth {

// One for each direction: the sender's has SessionKeys::to_peer, the receiver's ::from_peer. Frames
// are numbered by themselves, so that one that is repeated, lost or moved does not match.
class FrameSeal {
 public:
  static constexpr std::size_t kTagBytes = 16;
  using Tag = std::array<std::byte, kTagBytes>;

  // Throws Error kSystem.
  explicit FrameSeal(const Key& key);

  // `frame` is all of it but the tag: length, type and payload.
  Tag next_tag(std::span<const std::byte> frame);

  // To be asked before anything but the length is read. After a false the stream is to be closed:
  // nothing matches any more.
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

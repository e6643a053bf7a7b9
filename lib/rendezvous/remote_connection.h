// Sends frames over a stream between hosts. Each frame has a tag that only the two sides of the
// handshake can make.
//
//   length (4) | message | tag (16)
//
// The length is encoded like the fields of a message: base/byte_stream.h.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "auth/frame_seal.h"
#include "auth/handshake.h"
#include "auth/stream.h"
#include "rendezvous/connection.h"

namespace rota::rendezvous {

// The largest message in one frame: the longest message of a rank, and the fields that a launcher
// adds when it relays the message.
inline constexpr std::size_t kMaxFrameBytes = os::kMaxMessageBytes + 256;

// A frame that is too long, or whose tag is wrong, ends the connection.
class RemoteConnection final : public Connection {
 public:
  // `stream` is connected; the next byte to read is the first one after the handshake.
  RemoteConnection(auth::Stream stream, const auth::SessionKeys& keys);
  ~RemoteConnection() override;

  int fd() const noexcept override { return stream_.fd(); }
  os::Io send(std::span<const std::byte> bytes, std::span<const int> fds) override;
  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) override;
  bool is_sending() const noexcept override { return !out_.empty(); }
  bool has_unread() const noexcept override { return stream_.has_unread(); }

  // Returns why this side ended the connection; empty if this side did not end it.
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  void flush();
  bool fill(std::size_t bytes);
  os::Io hang_up(std::string why);
  bool take_frame(std::vector<std::byte>& bytes);

  auth::Stream stream_;
  auth::FrameSeal sealing_;
  auth::FrameSeal checking_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;  // Bytes of one frame so far.
  bool is_closed_ = false;
  std::string trouble_;
};

}  // namespace rota::rendezvous

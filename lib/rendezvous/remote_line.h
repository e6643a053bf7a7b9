// A line between hosts: frames over a stream, each with a tag that only who shook hands can make.
//
//   length (4) | message | tag (16)
//
// The length is written as the fields of the message are: base/byte_stream.h.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "auth/frame_seal.h"
#include "auth/handshake.h"
#include "auth/stream.h"
#include "rendezvous/line.h"

namespace rota::rendezvous {

// What one frame carries at most: the longest message of a rank, and an envelope around it.
inline constexpr std::size_t kMaxFrameBytes = os::kMaxMessageBytes + 256;

// A frame that is too long, or whose tag is wrong, ends the line.
class RemoteLine final : public Line {
 public:
  // `stream`: connected, with nothing more to read than what follows the handshake.
  RemoteLine(auth::Stream stream, const auth::SessionKeys& keys);
  ~RemoteLine() override;

  int fd() const noexcept override { return stream_.fd(); }
  os::Io send(std::span<const std::byte> bytes, std::span<const int> fds) override;
  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) override;
  bool is_sending() const noexcept override { return !out_.empty(); }
  bool has_unread() const noexcept override { return stream_.has_unread(); }

  // Why it was ended from here; empty where it was not.
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
  std::vector<std::byte> in_;  // Of one frame, so far.
  bool is_closed_ = false;
  std::string trouble_;
};

}  // namespace rota::rendezvous

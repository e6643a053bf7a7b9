// Sends and receives frames, and checks their tags.
#include "rendezvous/remote_connection.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/byte_stream.h"
#include "os/tcp_socket.h"

namespace rota::rendezvous {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

// The largest number of bytes that a peer can have in flight. The destructor stops after this
// number, so a peer that goes on sending cannot delay the destructor for ever.
constexpr std::size_t kMostUnreadBytes = std::size_t{16} << 20;

// Returns a frame without its tag: the length and the message.
std::vector<std::byte> untagged_frame(std::span<const std::byte> message) {
  base::ByteWriter frame;
  frame.write(std::string_view(reinterpret_cast<const char*>(message.data()), message.size()));
  return frame.take();
}

}  // namespace

RemoteConnection::RemoteConnection(auth::Stream stream, const auth::SessionKeys& keys)
    : stream_(std::move(stream)), sealing_(keys.to_peer), checking_(keys.from_peer) {
  os::keep_alive(stream_.fd());
  os::set_no_delay(stream_.fd());
}

// Reads the bytes that have arrived, and only then closes the socket. If a socket is closed with
// unread data, the peer may lose the last bytes that this side sent.
RemoteConnection::~RemoteConnection() {
  flush();
  os::end_sending(stream_.fd());
  std::array<std::byte, 4096> unread{};
  std::size_t read_bytes = 0;
  while (read_bytes < kMostUnreadBytes) {
    const std::size_t bytes = os::receive_some(stream_.fd(), unread).bytes;
    if (bytes == 0) break;
    read_bytes += bytes;
  }
}

os::Io RemoteConnection::send(std::span<const std::byte> bytes, std::span<const int> fds) {
  ROTA_ASSERT(fds.empty() && bytes.size() <= kMaxFrameBytes);
  flush();
  if (is_closed_) return os::Io::kClosed;
  if (out_.size() > kMaxFrameBytes) return os::Io::kWouldBlock;
  const auto frame = untagged_frame(bytes);
  const auto tag = sealing_.next_tag(frame);
  out_.insert(out_.end(), frame.begin(), frame.end());
  out_.insert(out_.end(), tag.begin(), tag.end());
  flush();
  return os::Io::kDone;
}

void RemoteConnection::flush() {
  if (out_.empty() || is_closed_) return;
  const os::Moved moved = stream_.send(out_, {});
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(moved.bytes));
  if (moved.closed) is_closed_ = true;
}

os::Io RemoteConnection::receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) {
  fds.clear();
  flush();
  if (!fill(kLengthBytes)) return is_closed_ ? os::Io::kClosed : os::Io::kWouldBlock;
  const std::size_t length = base::ByteReader(in_).read<std::uint32_t>();
  if (length > kMaxFrameBytes) {
    return hang_up("a frame of " + std::to_string(length) + " bytes is longer than any message");
  }
  if (!fill(kLengthBytes + length + auth::FrameSeal::kTagBytes)) {
    return is_closed_ ? os::Io::kClosed : os::Io::kWouldBlock;
  }
  if (take_frame(bytes)) return os::Io::kDone;
  return hang_up("data on the connection was changed, repeated or reordered on its way");
}

os::Io RemoteConnection::hang_up(std::string why) {
  trouble_ = std::move(why);
  stream_.reset();
  is_closed_ = true;
  return os::Io::kClosed;
}

// Reads until the frame has `bytes` bytes. Returns false while the frame has fewer.
bool RemoteConnection::fill(std::size_t bytes) {
  while (stream_ && in_.size() < bytes) {
    const std::size_t before = in_.size();
    in_.resize(bytes);
    const os::Moved moved = stream_.receive(std::span(in_).subspan(before));
    in_.resize(before + moved.bytes);
    if (moved.closed) is_closed_ = true;
    if (moved.bytes == 0) return false;
  }
  return in_.size() >= bytes;
}

bool RemoteConnection::take_frame(std::vector<std::byte>& bytes) {
  const auto frame = std::span(in_).first(in_.size() - auth::FrameSeal::kTagBytes);
  const auto tag = std::span(in_).last<auth::FrameSeal::kTagBytes>();
  const bool is_genuine = checking_.matches_next(frame, tag);
  const auto message = frame.subspan(kLengthBytes);
  if (is_genuine) bytes.assign(message.begin(), message.end());
  in_.clear();
  return is_genuine;
}

}  // namespace rota::rendezvous

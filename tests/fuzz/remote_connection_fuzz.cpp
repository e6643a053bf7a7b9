// Fuzzes the frames of a connection between hosts: they change on their way.
//   first byte    the number of genuine frames
//   second byte   the length of the pieces
//   the next two  the place in the stream where the changes begin
//   two bytes     ignored
//   the rest      the changes: the stream is XORed with them, and grows if they are longer
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "auth/frame_seal.h"
#include "base/byte_stream.h"
#include "fuzz/fuzz.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "rendezvous/remote_connection.h"

namespace {

using namespace rota;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kHeaderBytes = 6;

Bytes message_of(std::size_t number) {
  Bytes message(number * 3, static_cast<std::byte>(number));
  return message;
}

Bytes genuine_frames(std::size_t count, auth::FrameSeal& seal) {
  Bytes all;
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes message = message_of(i);
    base::ByteWriter out;
    out.write(std::string_view(reinterpret_cast<const char*>(message.data()), message.size()));
    const Bytes frame = out.take();
    const auto tag = seal.next_tag(frame);
    all.insert(all.end(), frame.begin(), frame.end());
    all.insert(all.end(), tag.begin(), tag.end());
  }
  return all;
}

// Two ends of a connection.
struct Ends {
  os::Fd ours;
  os::Fd theirs;
};

Ends connect() {
  static const os::Listener kListener = os::listen_on_loopback();
  Ends ends;
  ends.theirs = os::start_connect(os::parse_address(kListener.address)).socket;
  while (!ends.ours) ends.ours = os::accept_connection(kListener.socket.get()).socket;
  // Closing resets the connection, so its port is free immediately. Many inputs need many ports.
  const linger none{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(ends.theirs.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  return ends;
}

// Requires that all messages that the connection accepts are the sent ones, in order.
std::size_t hear(rendezvous::Connection& line, std::size_t heard, std::size_t sent) {
  Bytes bytes;
  std::vector<os::Fd> fds;
  while (line.receive(bytes, fds) == os::Io::kDone) {
    fuzz::require(heard < sent, "nothing comes that was not sent");
    fuzz::require(bytes == message_of(heard), "nothing comes changed");
    ++heard;
  }
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  if (count < kHeaderBytes) return 0;
  const std::size_t sent = data[0] % 32;
  const std::size_t piece_bytes = (data[1] + std::size_t{1}) * 64;
  const auth::SessionKeys keys{};
  auth::FrameSeal seal(keys.to_peer);
  Bytes stream = genuine_frames(sent, seal);
  const std::size_t whole_bytes = stream.size();
  std::size_t place = (data[2] | std::size_t{data[3]} << 8) % (whole_bytes + 1);
  bool has_changed = false;
  for (const std::uint8_t change : std::span(data + kHeaderBytes, count - kHeaderBytes)) {
    if (place == stream.size()) stream.push_back({});
    stream[place++] ^= static_cast<std::byte>(change);
    has_changed = has_changed || change != 0;
  }

  Ends ends = connect();
  rendezvous::RemoteConnection line(std::move(ends.ours), keys);
  std::size_t heard = 0;
  for (std::span<const std::byte> rest = stream; !rest.empty();) {
    const auto piece = rest.first(std::min(rest.size(), piece_bytes));
    const os::Moved moved = os::send_some(ends.theirs.get(), piece, {});
    if (moved.closed) break;
    rest = rest.subspan(moved.bytes);
    heard = hear(line, heard, sent);
  }
  heard = hear(line, heard, sent);
  if (!has_changed && stream.size() == whole_bytes) {
    fuzz::require(heard == sent && line.trouble().empty(), "what was not changed arrives");
  }
  return 0;
}

// Cuts PMIx messages into messages of a local socket, and joins them again at the other end.
#include "launcher/pmix/wire/pmix_link.h"

#include <algorithm>
#include <span>
#include <utility>

#include "os/message_socket.h"

namespace rota::launcher {
namespace {

// The largest number of bytes of a message. The data of a fence is about 1 KiB for each rank of the
// world.
constexpr std::size_t kMostPmixBytes = std::size_t{256} << 20;

constexpr std::byte kLast{0};
constexpr std::byte kMore{1};

}  // namespace

// Cuts a message into frames and queues them. The first byte of a frame says whether it is the last
// one of its message.
void PmixLink::send(const PmixMessage& message) {
  if (!socket_) return;
  const std::vector<std::byte> bytes = encode(message);
  for (std::span<const std::byte> rest = bytes; !rest.empty();) {
    const auto part = rest.first(std::min(rest.size(), os::kMaxMessageBytes - 1));
    rest = rest.subspan(part.size());
    std::vector<std::byte>& frame = unsent_.emplace_back();
    frame.reserve(part.size() + 1);
    frame.push_back(rest.empty() ? kLast : kMore);
    frame.insert(frame.end(), part.begin(), part.end());
  }
}

std::size_t PmixLink::add_to(os::PollSet& polls) const {
  return polls.add(socket_.get(), true, !unsent_.empty());
}

void PmixLink::send_all() {
  while (socket_ && !unsent_.empty()) {
    const os::Io io = os::send_message(socket_.get(), unsent_.front());
    if (io == os::Io::kWouldBlock) return;
    // The last messages of an end that is gone are still to be read.
    if (io == os::Io::kClosed) return unsent_.clear();
    unsent_.pop_front();
  }
}

std::vector<PmixMessage> PmixLink::receive() {
  std::vector<PmixMessage> messages;
  while (socket_) {
    const os::Io io = os::receive_message(socket_.get(), bytes_, fds_);
    if (io == os::Io::kWouldBlock) break;
    if (io == os::Io::kClosed || !take_frame(messages)) close();
  }
  return messages;
}

// Appends the frame in bytes_ to the message that arrives. Returns false if the bytes are too many,
// or are no message.
bool PmixLink::take_frame(std::vector<PmixMessage>& messages) {
  arrived_.insert(arrived_.end(), bytes_.begin() + 1, bytes_.end());
  if (bytes_.front() == kMore) return arrived_.size() <= kMostPmixBytes;
  auto message = decode_pmix_message(std::exchange(arrived_, {}));
  if (message) messages.push_back(std::move(*message));
  return message.has_value();
}

}  // namespace rota::launcher

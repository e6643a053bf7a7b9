// The launcher link between two hosts cuts control messages into frames, joins the frames again,
// and sends heartbeats.
#include "launcher/hosts/wire/launcher_link.h"

#include <algorithm>
#include <span>
#include <utility>

#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

// The largest number of frames received in one iteration, so that a peer that never stops sending
// does not block the others.
constexpr std::size_t kMostFramesATurn = 1024;

// The largest number of bytes of a control message: more than the largest cluster needs.
constexpr std::size_t kMostMessageBytes = std::size_t{8} << 20;

}  // namespace

LauncherLink::LauncherLink(std::unique_ptr<rendezvous::RemoteConnection> connection,
                           base::TimePoint now)
    : connection_(std::move(connection)), next_beat_(now), liveness_(now) {}

// Cuts a message into frames and queues them. A full frame means that more of its control message
// follows.
void LauncherLink::send(const ControlMessage& message) {
  if (!connection_) return;
  const std::vector<std::byte> bytes = encode(message);
  std::span<const std::byte> rest = bytes;
  for (bool is_full = true; is_full;) {
    const auto frame = rest.first(std::min(rest.size(), rendezvous::kMaxFrameBytes));
    unsent_.emplace_back(frame.begin(), frame.end());
    rest = rest.subspan(frame.size());
    unsent_bytes_ += frame.size();
    is_full = frame.size() == rendezvous::kMaxFrameBytes;
  }
}

void LauncherLink::add_to(os::PollSet& polls) {
  if (!connection_) return;
  const std::size_t position = polls.add(connection_->fd(), true, !is_quiet());
  if (connection_->has_unread()) polls.expect(position);
}

std::vector<ControlMessage> LauncherLink::receive(base::TimePoint now) {
  std::vector<ControlMessage> messages;
  for (std::size_t i = 0; i < kMostFramesATurn && connection_; ++i) {
    const os::Io io = connection_->receive(bytes_, fds_);
    if (io == os::Io::kWouldBlock) break;
    if (io == os::Io::kClosed || !take_frame(messages)) {
      if (!connection_->trouble().empty()) why_ended_ = connection_->trouble();
      connection_.reset();
      break;
    }
    liveness_.on_heard(now);
  }
  return messages;
}

// Appends the frame in bytes_ to the control message that arrives. Returns false if the bytes are
// too many, or are no control message.
bool LauncherLink::take_frame(std::vector<ControlMessage>& messages) {
  arrived_.insert(arrived_.end(), bytes_.begin(), bytes_.end());
  const bool is_full = bytes_.size() == rendezvous::kMaxFrameBytes;
  if (is_full) return arrived_.size() <= kMostMessageBytes;
  auto message = decode_control_message(std::exchange(arrived_, {}));
  if (!message) return false;
  if (message->type != ControlMessageType::kBeat) messages.push_back(std::move(*message));
  return true;
}

void LauncherLink::send_all(base::TimePoint now) {
  if (!connection_) return;
  if (now >= next_beat_) {
    if (unsent_.empty()) send({.type = ControlMessageType::kBeat});
    next_beat_ = now + kBeatTime;
  }
  while (!unsent_.empty()) {
    const os::Io io = connection_->send(unsent_.front(), {});
    if (io == os::Io::kWouldBlock) return;
    if (io == os::Io::kClosed) {  // The peer's last messages are still to be read.
      unsent_.clear();
      unsent_bytes_ = 0;
      return;
    }
    unsent_bytes_ -= unsent_.front().size();
    unsent_.pop_front();
  }
}

std::optional<base::TimePoint> LauncherLink::next_deadline() const {
  return connection_ ? std::optional(next_beat_) : std::nullopt;
}

void LauncherLink::close(base::TimePoint now) {
  send_all(now);
  connection_.reset();
}

LivenessWatch::Verdict LauncherLink::judge(base::TimePoint now) {
  return liveness_.judge(now, os::unacknowledged_for(connection_->fd()));
}

}  // namespace rota::launcher

// The connection between two launchers.
#include "launcher/hosts/wire/trunk.h"

#include <algorithm>
#include <span>
#include <utility>

#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

// One that never stops talking does not keep the others from being heard.
constexpr std::size_t kMostFramesATurn = 1024;

// Longer than what there is to say about the largest cluster.
constexpr std::size_t kMostDispatchBytes = std::size_t{8} << 20;

}  // namespace

Trunk::Trunk(std::unique_ptr<rendezvous::RemoteLine> line, base::TimePoint now)
    : line_(std::move(line)), next_beat_(now), silence_(now) {}

// A frame that is full has more of its dispatch behind it.
void Trunk::send(const Dispatch& dispatch) {
  if (!line_) return;
  const std::vector<std::byte> bytes = encode(dispatch);
  std::span<const std::byte> rest = bytes;
  for (bool is_full = true; is_full;) {
    const auto frame = rest.first(std::min(rest.size(), rendezvous::kMaxFrameBytes));
    unsent_.emplace_back(frame.begin(), frame.end());
    rest = rest.subspan(frame.size());
    unsent_bytes_ += frame.size();
    is_full = frame.size() == rendezvous::kMaxFrameBytes;
  }
}

void Trunk::add_to(os::PollSet& polls) {
  if (!line_) return;
  const std::size_t position = polls.add(line_->fd(), true, !is_quiet());
  if (line_->has_unread()) polls.expect(position);
}

std::vector<Dispatch> Trunk::receive(base::TimePoint now) {
  std::vector<Dispatch> dispatches;
  for (std::size_t i = 0; i < kMostFramesATurn && line_; ++i) {
    const os::Io io = line_->receive(bytes_, fds_);
    if (io == os::Io::kWouldBlock) break;
    if (io == os::Io::kClosed || !take_frame(dispatches)) {
      if (!line_->trouble().empty()) why_ended_ = line_->trouble();
      line_.reset();
      break;
    }
    silence_.on_heard(now);
  }
  return dispatches;
}

// Out of bytes_. False where it is of no dispatch.
bool Trunk::take_frame(std::vector<Dispatch>& dispatches) {
  arrived_.insert(arrived_.end(), bytes_.begin(), bytes_.end());
  const bool is_full = bytes_.size() == rendezvous::kMaxFrameBytes;
  if (is_full) return arrived_.size() <= kMostDispatchBytes;
  auto dispatch = decode_dispatch(std::exchange(arrived_, {}));
  if (!dispatch) return false;
  if (dispatch->type != DispatchType::kBeat) dispatches.push_back(std::move(*dispatch));
  return true;
}

void Trunk::send_all(base::TimePoint now) {
  if (!line_) return;
  if (now >= next_beat_) {
    if (unsent_.empty()) send({.type = DispatchType::kBeat});
    next_beat_ = now + kBeatTime;
  }
  while (!unsent_.empty()) {
    const os::Io io = line_->send(unsent_.front(), {});
    if (io == os::Io::kWouldBlock) return;
    if (io == os::Io::kClosed) {  // What came before is still to be read.
      unsent_.clear();
      unsent_bytes_ = 0;
      return;
    }
    unsent_bytes_ -= unsent_.front().size();
    unsent_.pop_front();
  }
}

std::optional<base::TimePoint> Trunk::next_deadline() const {
  return line_ ? std::optional(next_beat_) : std::nullopt;
}

void Trunk::close(base::TimePoint now) {
  send_all(now);
  line_.reset();
}

SilenceWatch::Verdict Trunk::judge(base::TimePoint now) {
  return silence_.judge(now, os::unacknowledged_for(line_->fd()));
}

}  // namespace rota::launcher

// The connection between two launchers.
#include "launcher/hosts/trunk.h"

#include <utility>

#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

// One that never stops talking does not keep the others from being heard.
constexpr std::size_t kMostDispatchesATurn = 1024;

}  // namespace

Trunk::Trunk(std::unique_ptr<rendezvous::RemoteLine> line, base::TimePoint now)
    : line_(std::move(line)), next_beat_(now), silence_(now) {}

void Trunk::send(const Dispatch& dispatch) {
  if (line_) unsent_.push_back(encode(dispatch));
}

void Trunk::add_to(os::PollSet& polls) {
  if (line_) polls.add(line_->fd(), true, !is_quiet());
}

std::vector<Dispatch> Trunk::receive(base::TimePoint now) {
  std::vector<Dispatch> dispatches;
  for (std::size_t i = 0; i < kMostDispatchesATurn && line_; ++i) {
    const os::Io io = line_->receive(bytes_, fds_);
    if (io == os::Io::kWouldBlock) break;
    auto dispatch = io == os::Io::kDone ? decode_dispatch(bytes_) : std::nullopt;
    if (!dispatch) {
      if (!line_->trouble().empty()) why_ended_ = line_->trouble();
      line_.reset();
      break;
    }
    silence_.on_heard(now);
    if (dispatch->type != DispatchType::kBeat) dispatches.push_back(std::move(*dispatch));
  }
  return dispatches;
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
    if (io == os::Io::kClosed) return unsent_.clear();  // What came before is still to be read.
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

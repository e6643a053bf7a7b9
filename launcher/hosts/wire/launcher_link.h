// The launcher link is the connection between the launchers of two hosts. It carries control
// messages and heartbeats in both directions.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/hosts/wire/control_message.h"
#include "launcher/hosts/wire/liveness.h"
#include "os/poll_set.h"
#include "rendezvous/remote_connection.h"

namespace rota::launcher {

class LauncherLink {
 public:
  LauncherLink(std::unique_ptr<rendezvous::RemoteConnection> connection, base::TimePoint now);

  void send(const ControlMessage& message);

  // Each of these functions makes one iteration of a loop, and never blocks.
  void add_to(os::PollSet& polls);
  std::vector<ControlMessage> receive(base::TimePoint now);
  void send_all(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // Sends as much as the connection can take now, and closes it.
  void close(base::TimePoint now);

  bool is_open() const noexcept { return connection_ != nullptr; }

  // Says why a closed link has ended.
  const std::string& why_ended() const noexcept { return why_ended_; }

  // The next three functions need an open link.
  int fd() const noexcept { return connection_->fd(); }
  std::size_t unsent_bytes() const noexcept { return unsent_bytes_; }
  bool is_quiet() const noexcept { return unsent_.empty() && !connection_->is_sending(); }

  // Judges whether the peer is alive. Call it in each iteration, after receive(), on an open link.
  LivenessWatch::Verdict judge(base::TimePoint now);
  base::Duration silent_for(base::TimePoint now) const { return liveness_.silent_for(now); }

 private:
  bool take_frame(std::vector<ControlMessage>& messages);

  std::unique_ptr<rendezvous::RemoteConnection> connection_;
  std::deque<std::vector<std::byte>> unsent_;
  std::size_t unsent_bytes_ = 0;
  base::TimePoint next_beat_;
  LivenessWatch liveness_;
  std::string why_ended_ = "its launcher ended, or the connection to it";
  std::vector<std::byte> bytes_;
  std::vector<std::byte> arrived_;  // The bytes of one control message, so far.
  std::vector<os::Fd> fds_;
};

}  // namespace rota::launcher

// The connection between two launchers: dispatches in both directions, and signs of life.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/hosts/wire/dispatch.h"
#include "launcher/hosts/wire/silence.h"
#include "os/poll_set.h"
#include "rendezvous/remote_line.h"

namespace rota::launcher {

class Trunk {
 public:
  Trunk(std::unique_ptr<rendezvous::RemoteLine> line, base::TimePoint now);

  void send(const Dispatch& dispatch);

  // One turn of a loop. Never blocks.
  void add_to(os::PollSet& polls);
  std::vector<Dispatch> receive(base::TimePoint now);
  void send_all(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // Ends after what was sent, as far as it can go now.
  void close(base::TimePoint now);

  bool is_open() const noexcept { return line_ != nullptr; }

  // Of one that ended.
  const std::string& why_ended() const noexcept { return why_ended_; }

  // Of an open one.
  int fd() const noexcept { return line_->fd(); }
  std::size_t unsent_bytes() const noexcept { return unsent_bytes_; }
  bool is_quiet() const noexcept { return unsent_.empty() && !line_->is_sending(); }

  // To be asked each turn, after receive(), of an open one.
  SilenceWatch::Verdict judge(base::TimePoint now);
  base::Duration silent_for(base::TimePoint now) const { return silence_.silent_for(now); }

 private:
  bool take_frame(std::vector<Dispatch>& dispatches);

  std::unique_ptr<rendezvous::RemoteLine> line_;
  std::deque<std::vector<std::byte>> unsent_;
  std::size_t unsent_bytes_ = 0;
  base::TimePoint next_beat_;
  SilenceWatch silence_;
  std::string why_ended_ = "its launcher ended, or the connection to it";
  std::vector<std::byte> bytes_;
  std::vector<std::byte> arrived_;  // Of one dispatch, so far.
  std::vector<os::Fd> fds_;
};

}  // namespace rota::launcher

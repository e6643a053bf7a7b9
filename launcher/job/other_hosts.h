// The other hosts of a job, as it looks from the one where it is decided what they are to do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/output/rank_output.h"
#include "launcher/ranks/news.h"
#include "os/poll_set.h"
#include "rendezvous/line.h"

namespace rota::launcher {

class OtherHosts {
 public:
  virtual ~OtherHosts() = default;

  // To a rank that is not on this host; its fd is none to wait for: kRankSpoke says when to read.
  virtual std::unique_ptr<rendezvous::Line> line_to(std::size_t rank) = 0;

  // One turn of a loop. Never blocks.
  virtual void add_to(os::PollSet& polls) = 0;
  virtual std::vector<News> handle(const os::PollSet& polls, base::TimePoint now) = 0;
  virtual void send_all(base::TimePoint now) = 0;
  virtual std::optional<base::TimePoint> next_deadline() const = 0;

  // Which ranks are lost with a host.
  virtual std::vector<std::size_t> ranks_of(std::size_t host) const = 0;

  // What they are told. `text` is what is to be said there; `signal` as Household has it.
  virtual void start() = 0;
  virtual void ask_to_end(int signal, const std::string& text) = 0;
  virtual void kill() = 0;

  // How their output can be taken now, where it is shown here.
  virtual void set_flow(Flow flow) = 0;

  // Whether nothing of the job is left on any of them.
  virtual bool have_ended() const = 0;

  // Tells them the job's exit code: the host of `last_rank`, if there is such, exits after the
  // others. To be followed by turns until all have gone.
  virtual void finish(int exit_code, std::optional<std::size_t> last_rank) = 0;
  virtual bool are_gone() const = 0;
};

}  // namespace rota::launcher

// Where probes and people ask how a job is: GET /livez, /readyz and /ranks over HTTP. Whoever
// calls may be slow, talk nonsense, or be one of thousands; the job goes on regardless.
#pragma once
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "launcher/status/status_answer.h"
#include "os/address.h"
#include "os/fd.h"
#include "os/listener.h"
#include "os/poll_set.h"

namespace rota::launcher {

// Where a caller counts as calling from: his address, of IPv6 the network of it, which one host may
// have all of.
std::string crowd_of(const os::Address& caller);

class StatusPort {
 public:
  // Listens at a numeric address such as "127.0.0.1:8080", and nowhere else. `status` is asked
  // when somebody wants to know, once a turn. `names_in_job`: what the job calls this host. Throws
  // UsageError where it cannot listen there.
  StatusPort(const std::string& address, std::function<JobStatus()> status,
             std::vector<std::string> names_in_job = {});

  // From now on `status` is asked, as where the job goes on to another stage.
  void ask(std::function<JobStatus()> status) { status_ = std::move(status); }

  // Where it listens, also where the port was to be any.
  const std::string& address() const noexcept { return listener_.address; }

  // One turn of a loop. Never blocks.
  void add_to(os::PollSet& polls, base::TimePoint now);
  void handle(const os::PollSet& polls, base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

 private:
  static constexpr std::size_t kNotPolled = static_cast<std::size_t>(-1);

  // He speaks, then we do, then he hangs up: an end that comes from us might overtake the answer.
  struct Caller {
    enum class Turn { kAsking, kHearing, kLeaving };
    os::Fd socket;
    std::string crowd;         // Of those who call from there.
    base::TimePoint deadline;  // Of his turn.
    Turn turn = Turn::kAsking;
    std::string request{};
    std::string response{};
    std::size_t sent_bytes = 0;
    std::size_t ignored_bytes = 0;  // Of what he said after his request.
    std::size_t position = kNotPolled;
  };

  void accept(base::TimePoint now, Moment& moment);
  void make_room(std::size_t most);
  void advance(Caller& caller, base::TimePoint now, Moment& moment);
  void listen_to(Caller& caller, base::TimePoint now, Moment& moment);
  void speak_to(Caller& caller);
  void see_off(Caller& caller);

  os::Listener listener_;
  std::function<JobStatus()> status_;
  std::size_t most_callers_;
  OwnNames names_;
  std::size_t answer_count_ = 0;               // In this turn.
  std::size_t position_ = kNotPolled;          // Of the listener.
  std::optional<base::TimePoint> deaf_until_;  // For want of descriptors.
  std::list<Caller> callers_;                  // The oldest first.
};

}  // namespace rota::launcher

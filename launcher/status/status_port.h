// At the status port, probes and people ask about a job: GET /livez, /readyz and /ranks over HTTP.
// A caller may be slow, send nonsense, or be one of thousands; the job goes on regardless.
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
#include "os/signals.h"

namespace rota::launcher {

// Returns the crowd that a caller belongs to: its address, or for IPv6 its network, as one host may
// have a whole network.
std::string crowd_of(const os::Address& caller);

// Listens at a numeric address such as "127.0.0.1:8080". If another rotarun still holds the port,
// waits for it as os::listen_patiently() does. Throws UsageError if nobody can listen there.
os::Listener listen_for_status(const std::string& address, const os::SignalWatch& signals);

class StatusPort {
 public:
  // `status` is called when somebody asks, at most once in an iteration. `names_in_job`: the names
  // that the job has for this host.
  StatusPort(os::Listener listener, std::function<JobStatus()> status,
             std::vector<std::string> names_in_job = {});

  // Calls `status` from now on, for example when the job goes on to another stage.
  void ask(std::function<JobStatus()> status) { status_ = std::move(status); }

  // Returns the address where the status port listens. If the wanted port number was 0, the address
  // has the number that the system chose.
  const std::string& address() const noexcept { return listener_.address; }

  // Each of these functions makes one iteration of a loop, and never blocks.
  void add_to(os::PollSet& polls, base::TimePoint now);
  void handle(const os::PollSet& polls, base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

 private:
  static constexpr std::size_t kNotPolled = static_cast<std::size_t>(-1);

  // The caller asks, then rotarun answers, then the caller hangs up. If rotarun hung up first, the
  // end of the connection might overtake the answer.
  struct Caller {
    enum class Turn { kAsking, kHearing, kLeaving };
    os::Fd socket;
    std::string crowd;         // As crowd_of() names it.
    base::TimePoint deadline;  // The end of its turn.
    Turn turn = Turn::kAsking;
    std::string request{};
    std::string response{};
    std::size_t sent_bytes = 0;
    std::size_t ignored_bytes = 0;  // Bytes after its request.
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
  std::size_t answer_count_ = 0;               // Answers in this iteration.
  std::size_t position_ = kNotPolled;          // The listener's.
  std::optional<base::TimePoint> full_until_;  // Until then, no descriptor is free.
  std::list<Caller> callers_;                  // The oldest first.
};

}  // namespace rota::launcher

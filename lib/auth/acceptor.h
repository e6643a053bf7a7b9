// Accepts connections from callers. If a caller proves within two seconds that it holds the key,
// and is admitted, the acceptor returns it as a Member. The acceptor disconnects all other callers.
// Each iteration of the event loop is short, whatever callers do. If an iteration has accepted all
// waiting callers and closed some of them, the acceptor pauses: the next iteration then handles
// more callers together. Strangers are callers that have proved nothing yet. Strangers cannot keep
// out callers from other hosts: if there are too many strangers, the acceptor closes strangers of
// the sources (os::Address::source()) that have the most. Strangers use at most a quarter of the
// descriptors that this process can open, or `expected_count` descriptors if that is more.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "auth/handshake.h"
#include "auth/stream.h"
#include "base/time.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::auth {

// Whether a caller that holds the key is admitted, and if not, why.
struct Admission {
  Verdict verdict = Verdict::kAccepted;
  std::string why;
};
Admission not_now(const std::string& why);
Admission never(std::string why);

class Acceptor {
 public:
  struct Member {
    Stream stream;
    Identity identity;
    SessionKeys keys;
  };
  using Admit = std::function<Admission(const Identity& caller)>;

  struct Options {
    Key key{};
    bool encrypts = false;
    std::uint64_t incarnation = 0;   // The job's. Callers of another incarnation are refused.
    int listener = -1;               // Owned by the user of this class; -1: accepts no callers.
    std::size_t expected_count = 1;  // Members that may call at one time, even from one source.
  };
  Acceptor(Options options, Admit admit);

  // Runs one iteration of an event loop. Never blocks. Throws Error kSystem.
  void add_to(os::PollSet& polls, base::TimePoint now);
  std::vector<Member> receive(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // Lets a caller try again later if only one side encrypts. Call it once the job has begun: the
  // caller may belong to a job that replaces this one.
  void let_others_wait() noexcept { others_wait_ = true; }

  // Returns why the acceptor rejected the last rejected caller, and where that caller called from,
  // such as "it holds another key (it called from 10.0.0.7)".
  const std::string& last_complaint() const noexcept { return last_complaint_; }

 private:
  struct Caller {
    Stream stream;
    os::Address address;
    Handshake handshake;
    base::TimePoint since;

    bool is_stranger() const;
  };

  // The numbers of callers that have proved nothing yet, for each source.
  struct Strangers {
    std::unordered_map<std::uint64_t, std::size_t> of_source;
    std::size_t count = 0;
  };

  // How many strangers to close, for each source.
  using Surplus = std::unordered_map<std::uint64_t, std::size_t>;

  bool is_pausing(base::TimePoint now) const { return pauses_until_ && now < *pauses_until_; }
  bool accept(base::TimePoint now);
  void hear(base::TimePoint now, std::vector<Member>& members);
  void advance(Caller& caller, base::TimePoint now, std::vector<Member>& members);
  Strangers strangers() const;
  bool thin_out();
  static void add_surplus(const Strangers& all, std::size_t count, Surplus& surplus);
  bool hang_up_on(Surplus& surplus);
  bool hang_up_on_some();
  std::list<Caller>::iterator hang_up(std::list<Caller>::iterator caller);

  Options options_;
  Admit admit_;
  std::size_t most_in_all_;                    // The limit of strangers, all sources together.
  std::list<Caller> callers_;                  // The oldest first.
  os::PollSet heard_;                          // The callers, in the order of callers_.
  std::optional<base::TimePoint> full_until_;  // Set when descriptors are used up.
  std::optional<base::TimePoint> pauses_until_;
  std::string last_complaint_;
  bool others_wait_ = false;
};

// How long a caller may take to prove who it is.
inline constexpr std::chrono::seconds kHandshakeTimeout{2};

}  // namespace rota::auth

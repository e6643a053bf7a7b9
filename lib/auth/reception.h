// Where callers are received: those who prove within two seconds that they hold the key, and may
// come in, are handed on; all others are hung up on. Whatever those do, a turn is short. Once all
// who wait are taken in, it rests for a moment, in which more of them may gather. Nor do strangers
// keep out who calls from another address, however far away: where there are too many, those go who
// share their source with most others. They have a quarter of the descriptors that this process may
// open.
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

// Whether somebody who holds the key may come in, and if not, why.
struct Judgement {
  Verdict verdict = Verdict::kAccepted;
  std::string why;
};
Judgement not_now(const std::string& why);
Judgement never(std::string why);

class Reception {
 public:
  struct Guest {
    Stream stream;
    Identity identity;
    SessionKeys keys;
  };
  using Judge = std::function<Judgement(const Identity& caller)>;

  struct Options {
    Key key{};
    bool encrypts = false;
    std::uint64_t incarnation = 0;   // Of the job; callers that know another are refused.
    int listener = -1;               // Stays the owner's; -1 is one that nobody calls.
    std::size_t expected_count = 1;  // Members that may call at once, also from one source.
  };
  Reception(Options options, Judge judge);

  // One turn of a loop. Never blocks. Throws Error kSystem.
  void add_to(os::PollSet& polls, base::TimePoint now);
  std::vector<Guest> receive(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // What was wrong with the last one who was not let in, and where that one called from, such as
  // "it holds another key (it called from 10.0.0.7)".
  const std::string& last_complaint() const noexcept { return last_complaint_; }

 private:
  struct Caller {
    Stream stream;
    os::Address address;
    Handshake handshake;
    base::TimePoint since;

    bool is_stranger() const;
  };

  // Who has proved nothing yet, by source.
  struct Strangers {
    std::unordered_map<std::uint64_t, std::size_t> of_source;
    std::size_t count = 0;
  };

  // How many are to go, by source.
  using Surplus = std::unordered_map<std::uint64_t, std::size_t>;

  bool is_resting(base::TimePoint now) const { return rests_until_ && now < *rests_until_; }
  bool accept(base::TimePoint now);
  void hear(base::TimePoint now, std::vector<Guest>& guests);
  void advance(Caller& caller, base::TimePoint now, std::vector<Guest>& guests);
  Strangers strangers() const;
  bool thin_out();
  static void add_surplus(const Strangers& all, std::size_t count, Surplus& surplus);
  bool hang_up_on(Surplus& surplus);
  bool hang_up_on_some();
  std::list<Caller>::iterator hang_up(std::list<Caller>::iterator caller);

  Options options_;
  Judge judge_;
  std::size_t most_in_all_;                    // Of strangers.
  std::list<Caller> callers_;                  // The oldest first.
  os::PollSet heard_;                          // Of the callers, in their order.
  std::optional<base::TimePoint> deaf_until_;  // For want of descriptors.
  std::optional<base::TimePoint> rests_until_;
  std::string last_complaint_;
};

// How long somebody may take to say who he is.
inline constexpr std::chrono::seconds kPatience{2};

}  // namespace rota::auth

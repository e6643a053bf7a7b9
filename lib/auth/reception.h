// Where callers are received: those who prove within two seconds that they hold the key, and may
// come in, are handed on; all others are hung up on. Whatever those do, they cost their host
// little: after each it rests for a moment, in which more of them may gather.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "auth/handshake.h"
#include "auth/stream.h"
#include "base/time.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::auth {

class Reception {
 public:
  struct Guest {
    Stream stream;
    Identity identity;
    SessionKeys keys;
  };
  // Why somebody who holds the key may not come in; empty where he may.
  using Judge = std::function<std::string(const Identity& caller)>;

  struct Options {
    Key key{};
    bool encrypts = false;
    std::uint64_t incarnation = 0;   // Of the job; callers that know another are refused.
    int listener = -1;               // Stays the owner's; -1 is one that nobody calls.
    std::size_t expected_count = 1;  // Members at once, beside whom some strangers may linger; of
                                     // more the oldest has to go.
  };
  Reception(const Options& options, Judge judge);

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
  };

  bool is_resting(base::TimePoint now) const { return rests_until_ && now < *rests_until_; }
  void accept(base::TimePoint now);
  void advance(Caller& caller, base::TimePoint now, std::vector<Guest>& guests);

  Options options_;
  std::size_t most_callers_;
  Judge judge_;
  std::list<Caller> callers_;                  // The oldest first.
  std::optional<base::TimePoint> deaf_until_;  // For want of descriptors.
  std::optional<base::TimePoint> rests_until_;
  std::string last_complaint_;
};

// How long somebody may take to say who he is.
inline constexpr std::chrono::seconds kPatience{2};

}  // namespace rota::auth

// Handshakes side by side, on the side that answers.
#include "auth/reception.h"

#include <algorithm>
#include <utility>

#include "auth/exchange.h"
#include "os/tcp_socket.h"

namespace rota::auth {
namespace {

// So many may linger beside all members.
constexpr std::size_t kStrangers = 64;

// So many are taken in at once. No more, so that they are heard before there are too many of them.
constexpr std::size_t kMostAtOnce = 16;

// After somebody was turned away: at most so many of them in that time are listened to, however
// many call. Those who are meant to come cause no rest.
constexpr std::chrono::milliseconds kRestTime{5};

// Where descriptors lack, somebody has to give some back first.
constexpr std::chrono::milliseconds kDeafTime{100};

bool is_under_way(const Handshake& handshake) {
  return handshake.state() == Handshake::State::kTalking ||
         handshake.state() == Handshake::State::kEncrypting;
}

}  // namespace

Reception::Reception(const Options& options, Judge judge)
    : options_(options),
      most_callers_(options.expected_count + kStrangers),
      judge_(std::move(judge)) {}

void Reception::add_to(os::PollSet& polls, base::TimePoint now) {
  if (deaf_until_ && now >= *deaf_until_) deaf_until_.reset();
  if (is_resting(now)) return;
  if (!deaf_until_) polls.add(options_.listener, true, false);
  for (const Caller& caller : callers_) {
    auth::add_to(polls, caller.handshake, caller.stream);
  }
}

// What callers have said already is heard before any of them has to go.
std::vector<Reception::Guest> Reception::receive(base::TimePoint now) {
  if (is_resting(now)) return {};
  rests_until_.reset();
  accept(now);
  std::vector<Guest> guests;
  for (Caller& caller : callers_) advance(caller, now, guests);
  const auto done = callers_.remove_if([](const Caller& caller) { return !caller.stream; });
  bool were_strangers = done > guests.size();
  for (; callers_.size() > most_callers_; callers_.pop_front()) were_strangers = true;
  if (were_strangers) rests_until_ = now + kRestTime;
  return guests;
}

void Reception::accept(base::TimePoint now) {
  for (std::size_t i = 0; options_.listener >= 0 && !deaf_until_ && i < kMostAtOnce; ++i) {
    os::Accepted accepted = os::accept_connection(options_.listener);
    if (!accepted.lack.empty()) {
      last_complaint_ = accepted.lack;
      deaf_until_ = now + kDeafTime;
      if (!callers_.empty()) callers_.pop_front();
    }
    if (!accepted.socket) return;
    os::set_no_delay(accepted.socket.get());
    const Credentials own(options_.key, options_.encrypts);
    callers_.push_back({std::move(accepted.socket), *accepted.caller,
                        Handshake::answer(own, options_.incarnation), now});
  }
}

void Reception::advance(Caller& caller, base::TimePoint now, std::vector<Guest>& guests) {
  using State = Handshake::State;
  Handshake& handshake = caller.handshake;
  const bool is_open = auth::advance(handshake, caller.stream);
  if (handshake.state() == State::kAsking) {
    const std::string refusal = judge_(handshake.identity());
    if (refusal.empty()) {
      handshake.accept();
    } else {
      handshake.refuse(refusal);
    }
    auth::advance(handshake, caller.stream);
  }
  if (handshake.state() == State::kDone) {
    guests.push_back({std::move(caller.stream), handshake.identity(), handshake.session_keys()});
  } else if (!is_open || !is_under_way(handshake) || now - caller.since > kPatience) {
    if (!handshake.why().empty()) {
      last_complaint_ = handshake.why() + " (it called from " + caller.address.host() + ")";
    }
    caller.stream.reset();
  }
}

std::optional<base::TimePoint> Reception::next_deadline() const {
  if (rests_until_) return rests_until_;
  std::optional<base::TimePoint> next = deaf_until_;
  if (callers_.empty()) return next;
  const base::TimePoint end = callers_.front().since + kPatience;
  return next ? std::min(*next, end) : end;
}

}  // namespace rota::auth

// Handshakes side by side, on the side that answers.
#include "auth/reception.h"

#include <algorithm>
#include <utility>

#include "auth/exchange.h"
#include "os/tcp_socket.h"

namespace rota::auth {
namespace {

// So many may linger of one source, beside the members that it may have, and so many in all.
constexpr std::size_t kStrangersOfOne = 128;
constexpr std::size_t kStrangersInAll = 4096;

// So many are taken in at once. No more, so that they are heard before there are too many of them.
constexpr std::size_t kMostAtOnce = 32;

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

Judgement not_now(const std::string& why) { return {Verdict::kNotNow, "not now: " + why}; }

Judgement never(std::string why) { return {Verdict::kNever, std::move(why)}; }

Reception::Reception(Options options, Judge judge)
    : options_(std::move(options)), judge_(std::move(judge)) {}

// Who has made a TLS connection has proved that he holds the key, and so has who has a verdict.
bool Reception::Caller::is_stranger() const {
  const bool is_encrypted = stream.is_encrypted() && stream.tls()->is_ready();
  return !is_encrypted && handshake.verdict() == Verdict::kNone;
}

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
  hear(now, guests);
  const auto done = callers_.remove_if([](const Caller& caller) { return !caller.stream; });
  const bool were_too_many = thin_out();
  if (were_too_many || done > guests.size()) rests_until_ = now + kRestTime;
  return guests;
}

// Looks at all at once, as most of many strangers say nothing.
void Reception::hear(base::TimePoint now, std::vector<Guest>& guests) {
  if (callers_.empty()) return;
  heard_.clear();
  for (const Caller& caller : callers_) auth::add_to(heard_, caller.handshake, caller.stream);
  heard_.wait(base::Clock::now());
  std::size_t position = 0;
  for (Caller& caller : callers_) {
    const bool is_ready = heard_.readable(position) || heard_.writable(position);
    if (is_ready || now - caller.since > kPatience) advance(caller, now, guests);
    ++position;
  }
}

Reception::Strangers Reception::strangers() const {
  Strangers strangers;
  for (const Caller& caller : callers_) {
    if (!caller.is_stranger()) continue;
    ++strangers.of_source[caller.address.source()];
    ++strangers.count;
  }
  return strangers;
}

// True where there were too many. Of a source that has too many the oldest go.
bool Reception::thin_out() {
  const std::size_t most_of_one = options_.expected_count + kStrangersOfOne;
  if (callers_.size() <= most_of_one) return false;
  Strangers left = strangers();
  const std::size_t count = callers_.size();
  for (auto caller = callers_.begin(); caller != callers_.end();) {
    std::size_t* const of_source =
        caller->is_stranger() ? &left.of_source[caller->address.source()] : nullptr;
    if (of_source == nullptr || *of_source <= most_of_one) {
      ++caller;
      continue;
    }
    --*of_source;
    --left.count;
    caller = hang_up(caller);
  }
  for (; left.count > kStrangersInAll; --left.count) hang_up_on_most();
  return callers_.size() < count;
}

// On the oldest stranger of the source that has most of them; false where there is none.
bool Reception::hang_up_on_most() {
  const Strangers all = strangers();
  const auto most =
      std::ranges::max_element(all.of_source, {}, [](const auto& each) { return each.second; });
  if (most == all.of_source.end()) return false;
  hang_up(std::ranges::find_if(callers_, [&](const Caller& caller) {
    return caller.is_stranger() && caller.address.source() == most->first;
  }));
  return true;
}

// Tells an honest one why, where he may be one and still hears it.
std::list<Reception::Caller>::iterator Reception::hang_up(std::list<Caller>::iterator caller) {
  if (!caller->stream.is_encrypted() && caller->handshake.to_send().empty()) {
    os::send_some(caller->stream.fd(), caller->handshake.farewell(Verdict::kCrowded), {});
  }
  last_complaint_ = "too many connections wait without a proof; one of them called from " +
                    caller->address.host();
  return callers_.erase(caller);
}

// Where descriptors lack, a stranger has to give one back, or all have to wait.
void Reception::accept(base::TimePoint now) {
  for (std::size_t i = 0; options_.listener >= 0 && !deaf_until_ && i < kMostAtOnce; ++i) {
    os::Accepted accepted = os::accept_connection(options_.listener);
    if (!accepted.lack.empty()) {
      const bool has_given_back = hang_up_on_most();
      last_complaint_ = accepted.lack;
      if (has_given_back) continue;
      deaf_until_ = now + kDeafTime;
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
    const Judgement judgement = judge_(handshake.identity());
    if (judgement.verdict == Verdict::kAccepted) {
      handshake.accept();
    } else {
      handshake.refuse(judgement.verdict, judgement.why);
    }
    auth::advance(handshake, caller.stream);
  }
  if (handshake.state() == State::kDone) {
    guests.push_back({std::move(caller.stream), handshake.identity(), handshake.session_keys()});
  } else if (!is_open || !is_under_way(handshake) || now - caller.since > kPatience) {
    if (handshake.verdict() == Verdict::kOtherKey) {
      os::send_some(caller.stream.fd(), handshake.farewell(Verdict::kOtherKey), {});
    }
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

// Handshakes side by side, on the side that answers.
#include "auth/reception.h"

#include <algorithm>
#include <utility>

#include "auth/exchange.h"
#include "os/host.h"
#include "os/tcp_socket.h"

namespace rota::auth {
namespace {

// So many may linger of one source, beside the members that it may have.
constexpr std::size_t kStrangersOfOne = 128;

// So many may linger in all, where so many descriptors are there: a quarter of those that this
// process may have, so that the job finds others.
constexpr std::uint64_t kStrangersInAll = 4096;
constexpr std::uint64_t kFewestInAll = 16;
constexpr std::uint64_t kShareOfDescriptors = 4;

// So many are taken in at once, where so many may linger, and in so long. No more, so that they are
// heard before there are too many of them, and whoever turns this has time for others.
constexpr std::size_t kMostAtOnce = 512;
constexpr std::size_t kFewestAtOnce = 32;
constexpr std::chrono::milliseconds kTimeAtOnce{5};

// After somebody was turned away, unless more wait than were taken in: the kernel would drop calls.
// Those who are meant to come cause no rest.
constexpr std::chrono::milliseconds kRestTime{5};

// Where descriptors lack, somebody has to give some back first.
constexpr std::chrono::milliseconds kDeafTime{100};

// Members that call at once are strangers at first, and there is room for all of them.
std::size_t most_in_all(std::size_t expected_count) {
  const std::uint64_t share = os::open_file_limits().soft / kShareOfDescriptors;
  const auto most = static_cast<std::size_t>(std::clamp(share, kFewestInAll, kStrangersInAll));
  return std::max(most, expected_count);
}

bool is_under_way(const Handshake& handshake) {
  return handshake.state() == Handshake::State::kTalking ||
         handshake.state() == Handshake::State::kEncrypting;
}

}  // namespace

Judgement not_now(const std::string& why) { return {Verdict::kNotNow, "not now: " + why}; }

Judgement never(std::string why) { return {Verdict::kNever, std::move(why)}; }

Reception::Reception(Options options, Judge judge)
    : options_(std::move(options)),
      judge_(std::move(judge)),
      most_in_all_(most_in_all(options_.expected_count)) {}

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
  const bool has_taken_all = accept(now);
  std::vector<Guest> guests;
  hear(now, guests);
  const auto done = callers_.remove_if([](const Caller& caller) { return !caller.stream; });
  const bool were_too_many = thin_out();
  const bool has_turned_away = were_too_many || done > guests.size();
  if (has_taken_all && has_turned_away) rests_until_ = now + kRestTime;
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
  if (callers_.size() <= std::min(most_of_one, most_in_all_)) return false;
  Strangers all = strangers();
  Surplus surplus;
  for (auto& [source, count] : all.of_source) {
    if (count <= most_of_one) continue;
    surplus[source] = count - most_of_one;
    all.count -= count - most_of_one;
    count = most_of_one;
  }
  if (all.count > most_in_all_) add_surplus(all, all.count - most_in_all_, surplus);
  return hang_up_on(surplus);
}

// Chooses so many more, each of the source that has most of them then.
void Reception::add_surplus(const Strangers& all, std::size_t count, Surplus& surplus) {
  const auto has_less = [](const auto& one, const auto& other) {
    return one.second < other.second;
  };
  std::vector<std::pair<std::uint64_t, std::size_t>> heap(all.of_source.begin(),
                                                          all.of_source.end());
  std::ranges::make_heap(heap, has_less);
  for (; count > 0; --count) {
    std::ranges::pop_heap(heap, has_less);
    if (heap.back().second == 0) return;
    --heap.back().second;
    ++surplus[heap.back().first];
    std::ranges::push_heap(heap, has_less);
  }
}

// On so many of each source, the oldest of them first. True where there are any.
bool Reception::hang_up_on(Surplus& surplus) {
  const std::size_t count = callers_.size();
  for (auto caller = callers_.begin(); caller != callers_.end() && !surplus.empty();) {
    const auto of_source =
        caller->is_stranger() ? surplus.find(caller->address.source()) : surplus.end();
    if (of_source == surplus.end()) {
      ++caller;
      continue;
    }
    if (--of_source->second == 0) surplus.erase(of_source);
    caller = hang_up(caller);
  }
  return callers_.size() < count;
}

// On strangers of the sources that have most of them; false where there is none. Several at once
// where there are many, as it looks at all of them.
bool Reception::hang_up_on_some() {
  constexpr std::size_t kPart = 64;
  const Strangers all = strangers();
  if (all.count == 0) return false;
  Surplus surplus;
  add_surplus(all, 1 + all.count / kPart, surplus);
  return hang_up_on(surplus);
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

// False where more may wait. Where descriptors lack, a stranger has to give one back, or all have
// to wait.
bool Reception::accept(base::TimePoint now) {
  if (options_.listener < 0 || deaf_until_) return true;
  const std::size_t most = std::clamp(most_in_all_ / 8, kFewestAtOnce, kMostAtOnce);
  const base::TimePoint end = base::Clock::now() + kTimeAtOnce;
  for (std::size_t i = 0; i < most && base::Clock::now() < end; ++i) {
    os::Accepted accepted = os::accept_connection(options_.listener);
    if (!accepted.lack.empty()) {
      const bool has_given_back = hang_up_on_some();
      last_complaint_ = accepted.lack;
      if (has_given_back) continue;
      deaf_until_ = now + kDeafTime;
    }
    if (!accepted.socket) return true;
    os::set_no_delay(accepted.socket.get());
    const Credentials own(options_.key, options_.encrypts);
    callers_.push_back({std::move(accepted.socket), *accepted.caller,
                        Handshake::answer(own, options_.incarnation), now});
  }
  return false;
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

// Runs handshakes concurrently, for the side that answers.
#include "auth/acceptor.h"

#include <algorithm>
#include <utility>

#include "auth/handshake_io.h"
#include "os/host.h"
#include "os/tcp_socket.h"

namespace rota::auth {
namespace {

// Callers from one source (os::Address::source()) may include `expected_count` strangers, and this
// many more. A stranger is a caller that has proved nothing yet. Members are strangers at first,
// and all of them may call from one source.
constexpr std::size_t kStrangersOfOne = 128;

// The largest number of strangers of all sources together, if there are enough descriptors.
// Strangers may use a quarter of the descriptors of this process, so that enough are left for the
// job.
constexpr std::uint64_t kStrangersInAll = 4096;
constexpr std::uint64_t kFewestInAll = 16;
constexpr std::uint64_t kShareOfDescriptors = 4;

// The limits of one iteration: how many callers it accepts at most, depending on how many strangers
// are allowed, and how long it accepts. Both limits are low, so that the acceptor reads from
// callers before there are too many, and so that the event loop has time for other work.
constexpr std::size_t kMostAtOnce = 512;
constexpr std::size_t kFewestAtOnce = 32;
constexpr std::chrono::milliseconds kTimeAtOnce{5};

// The pause after an iteration that closed a caller. There is no pause if more callers wait than
// the iteration accepted, because the kernel would drop some of them. A caller that becomes a
// member causes no pause.
constexpr std::chrono::milliseconds kPauseTime{5};

// The pause if descriptors are used up: a descriptor must become free first.
constexpr std::chrono::milliseconds kFullTime{100};

// Returns the limit of strangers. It has room for all members that call together, because members
// are strangers at first.
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

Admission not_now(const std::string& why) { return {Verdict::kNotNow, "not now: " + why}; }

Admission never(std::string why) { return {Verdict::kNever, std::move(why)}; }

Acceptor::Acceptor(Options options, Admit admit)
    : options_(std::move(options)),
      admit_(std::move(admit)),
      most_in_all_(most_in_all(options_.expected_count)) {}

// A caller with a complete TLS connection has proved that it holds the key. A caller that has got a
// verdict has proved this, too.
bool Acceptor::Caller::is_stranger() const {
  const bool is_encrypted = stream.is_encrypted() && stream.tls()->is_ready();
  return !is_encrypted && handshake.verdict() == Verdict::kNone;
}

void Acceptor::add_to(os::PollSet& polls, base::TimePoint now) {
  if (full_until_ && now >= *full_until_) full_until_.reset();
  if (is_pausing(now)) return;
  if (!full_until_) polls.add(options_.listener, true, false);
  for (const Caller& caller : callers_) {
    auth::add_to(polls, caller.handshake, caller.stream);
  }
}

// Before thin_out() closes strangers, hear() reads what callers have sent: the proof of a member
// may be among it.
std::vector<Acceptor::Member> Acceptor::receive(base::TimePoint now) {
  if (is_pausing(now)) return {};
  pauses_until_.reset();
  const bool has_taken_all = accept(now);
  std::vector<Member> members;
  hear(now, members);
  const auto done = callers_.remove_if([](const Caller& caller) { return !caller.stream; });
  const bool were_too_many = thin_out();
  const bool has_turned_away = were_too_many || done > members.size();
  if (has_taken_all && has_turned_away) pauses_until_ = now + kPauseTime;
  return members;
}

// Polls all callers with one call instead of reading from each: most strangers send nothing.
void Acceptor::hear(base::TimePoint now, std::vector<Member>& members) {
  if (callers_.empty()) return;
  heard_.clear();
  for (const Caller& caller : callers_) auth::add_to(heard_, caller.handshake, caller.stream);
  heard_.wait(base::Clock::now());
  std::size_t position = 0;
  for (Caller& caller : callers_) {
    const bool is_ready = heard_.readable(position) || heard_.writable(position);
    if (is_ready || now - caller.since > kHandshakeTimeout) advance(caller, now, members);
    ++position;
  }
}

Acceptor::Strangers Acceptor::strangers() const {
  Strangers strangers;
  for (const Caller& caller : callers_) {
    if (!caller.is_stranger()) continue;
    ++strangers.of_source[caller.address.source()];
    ++strangers.count;
  }
  return strangers;
}

// Closes strangers above the limit of their source, and then strangers above the limit of all
// sources together. Returns true if it closed any.
bool Acceptor::thin_out() {
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

// Chooses `count` more strangers to close, one by one, each from the source that has the most
// strangers at that moment.
void Acceptor::add_surplus(const Strangers& all, std::size_t count, Surplus& surplus) {
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

// Closes the given number of strangers of each source, the oldest first. Returns true if it closed
// any.
bool Acceptor::hang_up_on(Surplus& surplus) {
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

// Closes strangers of the sources that have the most. Returns false if there is no stranger. If
// there are many strangers, one call closes several, because each call looks at all strangers.
bool Acceptor::hang_up_on_some() {
  constexpr std::size_t kPart = 64;
  const Strangers all = strangers();
  if (all.count == 0) return false;
  Surplus surplus;
  add_surplus(all, 1 + all.count / kPart, surplus);
  return hang_up_on(surplus);
}

// Closes the caller. Tells the caller why if it can still read the reason: it does not encrypt, and
// no earlier message to it is unsent.
std::list<Acceptor::Caller>::iterator Acceptor::hang_up(std::list<Caller>::iterator caller) {
  if (!caller->stream.is_encrypted() && caller->handshake.to_send().empty()) {
    os::send_some(caller->stream.fd(), caller->handshake.farewell(Verdict::kCrowded), {});
  }
  last_complaint_ = "too many connections wait without a proof of the key; one of them is from " +
                    caller->address.host();
  return callers_.erase(caller);
}

// Accepts waiting callers. Returns false if more callers may wait. If descriptors are used up,
// closes strangers; if there is no stranger, new callers wait.
bool Acceptor::accept(base::TimePoint now) {
  if (options_.listener < 0 || full_until_) return true;
  const std::size_t most = std::clamp(most_in_all_ / 8, kFewestAtOnce, kMostAtOnce);
  const base::TimePoint end = base::Clock::now() + kTimeAtOnce;
  for (std::size_t i = 0; i < most && base::Clock::now() < end; ++i) {
    os::Accepted accepted = os::accept_connection(options_.listener);
    if (!accepted.lack.empty()) {
      const bool has_given_back = hang_up_on_some();
      last_complaint_ = accepted.lack;
      if (has_given_back) continue;
      full_until_ = now + kFullTime;
    }
    if (!accepted.socket) return true;
    os::set_no_delay(accepted.socket.get());
    const Credentials own(options_.key, options_.encrypts);
    callers_.push_back({std::move(accepted.socket), *accepted.caller,
                        Handshake::answer(own, options_.incarnation), now});
    if (others_wait_) callers_.back().handshake.let_others_wait();
  }
  return false;
}

void Acceptor::advance(Caller& caller, base::TimePoint now, std::vector<Member>& members) {
  using State = Handshake::State;
  Handshake& handshake = caller.handshake;
  const bool is_open = auth::advance(handshake, caller.stream);
  if (handshake.state() == State::kAsking) {
    const Admission judgement = admit_(handshake.identity());
    if (judgement.verdict == Verdict::kAccepted) {
      handshake.accept();
    } else {
      handshake.refuse(judgement.verdict, judgement.why);
    }
    auth::advance(handshake, caller.stream);
  }
  if (handshake.state() == State::kDone) {
    members.push_back({std::move(caller.stream), handshake.identity(), handshake.session_keys()});
  } else if (!is_open || !is_under_way(handshake) || now - caller.since > kHandshakeTimeout) {
    if (handshake.verdict() == Verdict::kOtherKey) {
      os::send_some(caller.stream.fd(), handshake.farewell(Verdict::kOtherKey), {});
    }
    if (!handshake.why().empty()) {
      last_complaint_ = handshake.why() + " (it called from " + caller.address.host() + ")";
    }
    caller.stream.reset();
  }
}

std::optional<base::TimePoint> Acceptor::next_deadline() const {
  if (pauses_until_) return pauses_until_;
  std::optional<base::TimePoint> next = full_until_;
  if (callers_.empty()) return next;
  const base::TimePoint end = callers_.front().since + kHandshakeTimeout;
  return next ? std::min(*next, end) : end;
}

}  // namespace rota::auth

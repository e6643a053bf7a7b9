// Runs the handshake of the calling side, and starts it again if another attempt may succeed.
#include "auth/connector.h"

#include <algorithm>
#include <utility>

#include "auth/handshake_io.h"
#include "os/tcp_socket.h"

namespace rota::auth {
namespace {

// The pause between attempts. The connector adds a random time of at most the same length, so that
// callers that were refused together do not come back together.
constexpr std::chrono::milliseconds kPause{40};

// The time limits of an attempt at one address: kPatienceWithOne if another address is left to try,
// kPatienceWithLast at the last address. Attempts must end, because the name may get another
// address, and a vanished host does not even refuse the connection.
constexpr std::chrono::seconds kPatienceWithOne{2};
constexpr std::chrono::seconds kPatienceWithLast{5};

// The time that is left at least once the peer has begun to answer, as after a late start. If the
// call ended then, the peer could take its connection for good, and refuse the next call.
constexpr std::chrono::seconds kPatienceWithAnswer{2};

// The text of why() if the peer closed the connection and said nothing about keys.
constexpr const char* kClosed =
    "it closed the connection and gave no reason: it is about to end, or its port is flooded";

// A name without a record often stays without one for several seconds, and name servers also serve
// other programs. So the pause doubles, at most this many times.
constexpr std::size_t kMostDoublings = 4;

// The text of why() until the first answer about a name has arrived.
constexpr std::string_view kAsking = "the lookup of its name has not finished";

std::chrono::milliseconds pause_before(const Identity& caller, std::size_t attempt) {
  const std::size_t spread = caller.from * 7919 + caller.to * 104729 + attempt * 15485863;
  return kPause + std::chrono::milliseconds(spread % static_cast<std::size_t>(kPause.count()));
}

}  // namespace

Connector::Connector(std::string address, Credentials own, const Identity& identity,
                     names::Options names)
    : address_(std::move(address)),
      own_(std::move(own)),
      identity_(identity),
      resolver_(std::move(names)) {}

void Connector::add_to(os::PollSet& polls) const {
  if (!stream_) return resolver_.add_to(polls);
  auth::add_to(polls, *handshake_, stream_);
}

std::optional<base::TimePoint> Connector::next_deadline() const {
  if (stream_) return give_up_at_;
  return resolver_.is_asking() ? resolver_.next_deadline() : retry_at_;
}

Connector::State Connector::advance(base::TimePoint now) {
  if (!stream_ && now >= retry_at_) start(now);
  if (!stream_) return State::kCalling;
  if (const auto failure = connection_failure()) return fail(*failure, now);
  const bool had_heard = handshake_->has_heard();
  if (!auth::advance(*handshake_, stream_) && handshake_->why().empty()) return fail(kClosed, now);
  const bool begins_to_hear = handshake_->has_heard() && !had_heard;
  if (begins_to_hear) give_up_at_ = std::max(give_up_at_, now + kPatienceWithAnswer);
  switch (handshake_->state()) {
    case Handshake::State::kDone:
      return State::kDone;
    case Handshake::State::kRefused:
      fail_as_told(now);
      return verdict_ == Verdict::kNotNow ? State::kCalling : State::kRefused;
    case Handshake::State::kStranger:
      return fail_as_told(now);
    default:
      break;
  }
  if (now >= give_up_at_) return fail("it does not answer", now);
  return State::kCalling;
}

void Connector::start(base::TimePoint now) {
  if (untried_.empty()) look_up(now);
  if (untried_.empty()) return;
  const os::Address address = untried_.back();
  untried_.pop_back();
  give_up_at_ = now + (untried_.empty() ? kPatienceWithLast : kPatienceWithOne);
  os::Connecting connecting = os::start_connect(address);
  if (connecting.failure) {
    fail(*connecting.failure, now);
    return;
  }
  has_met_peer_ = false;
  os::set_no_delay(connecting.socket.get());  // A message right after another must not wait.
  stream_ = std::move(connecting.socket);
  handshake_.emplace(Handshake::call(own_, identity_));
}

// Rank 0 of a large world advances many calls at each turn, so each call looks only once who is at
// the other end.
std::optional<std::string> Connector::connection_failure() {
  if (has_met_peer_) return os::connection_failure(stream_.fd());
  const bool has_peer = os::has_peer(stream_.fd());
  auto failure = os::connect_result(stream_.fd());
  has_met_peer_ = has_peer && !failure;
  return failure;
}

void Connector::look_up(base::TimePoint now) {
  if (!resolver_.is_asking()) resolver_.ask_addresses(address_);
  auto answer = resolver_.advance();
  if (!answer) {
    if (why_.empty()) why_ = kAsking;
    return;
  }
  if (why_ == kAsking) why_.clear();
  untried_ = std::move(answer->addresses);
  std::ranges::reverse(untried_);
  if (!untried_.empty()) {
    nameless_count_ = 0;
    return;
  }
  const std::size_t doublings = std::min(nameless_count_++, kMostDoublings);
  fail(answer->failure, now);
  retry_at_ += pause_before(identity_, attempt_) * ((1U << doublings) - 1);
}

Connector::State Connector::fail(const std::string& why, base::TimePoint now) {
  why_ = why;
  verdict_ = Verdict::kNone;
  stream_.reset();
  retry_at_ = untried_.empty() ? now + pause_before(identity_, ++attempt_) : now;
  return State::kCalling;
}

Connector::State Connector::fail_as_told(base::TimePoint now) {
  fail(handshake_->why(), now);
  verdict_ = handshake_->verdict();
  const bool has_looked = verdict_ != Verdict::kNone && verdict_ != Verdict::kCrowded;
  if (has_looked) last_answer_ = {verdict_, why_};
  return State::kCalling;
}

}  // namespace rota::auth

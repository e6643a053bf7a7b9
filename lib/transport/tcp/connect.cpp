// A meeting: handshakes side by side until every peer is there.
#include "transport/tcp/connect.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <rota/error.h>

#include "auth/call.h"
#include "auth/reception.h"
#include "os/poll_set.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using base::TimePoint;

// At who is too slow, and at what has happened elsewhere.
constexpr std::chrono::milliseconds kLookEvery{100};

// How much longer those wait who are to be called: whoever calls knows what is in the way, and is
// to say it first.
constexpr std::chrono::milliseconds kCallersFirst{200};

// A wait that is worth a word; as long as in an operation.
constexpr std::chrono::milliseconds kReportAfter{100};

class Meeting {
 public:
  Meeting(std::size_t rank, const CallTerms& terms, int listener, TimePoint deadline)
      : rank_(rank),
        terms_(terms),
        deadline_(deadline),
        streams_(terms.addresses.size()),
        calls_(terms.addresses.size()),
        reception_({.key = terms.key,
                    .encrypts = terms.encrypts,
                    .incarnation = terms.incarnation,
                    .listener = listener,
                    .expected_count = streams_.size()},
                   [this](const auth::Identity& caller) { return judge(caller); }) {}

  std::vector<auth::Stream> run() {
    for (std::size_t peer = rank_ + 1; peer < calls_.size(); ++peer) {
      calls_[peer].emplace(terms_.addresses[peer], auth::Credentials(terms_.key, terms_.encrypts),
                           identity(rank_, peer));
    }
    while (!absent().empty()) {
      if (Clock::now() >= end()) throw_absent();
      if (terms_.look_around) terms_.look_around();
      report_wait();
      for (std::size_t peer = 0; peer < calls_.size(); ++peer) {
        if (calls_[peer]) advance(peer);
      }
      for (auth::Reception::Guest& guest : reception_.receive(Clock::now())) {
        auth::Stream& stream = streams_[guest.identity.from];
        if (!stream) stream = std::move(guest.stream);
      }
      if (!absent().empty()) wait();
    }
    return std::move(streams_);
  }

 private:
  auth::Identity identity(std::size_t from, std::size_t to) const {
    return {.channel = auth::Channel::kData,
            .incarnation = terms_.incarnation,
            .epoch = terms_.epoch,
            .from = static_cast<std::uint32_t>(from),
            .to = static_cast<std::uint32_t>(to)};
  }

  void report_wait() {
    const std::size_t peer = absent().front();
    const TimePoint now = Clock::now();
    if (peer != awaited_) {
      awaited_ = peer;
      report_at_ = now + kReportAfter;
    }
    if (!terms_.report_wait || !report_at_ || now < *report_at_) return;
    report_at_.reset();
    terms_.report_wait(peer);
  }

  void advance(std::size_t peer) {
    auth::Call& call = *calls_[peer];
    const auth::Call::State state = call.advance(Clock::now());
    if (state == auth::Call::State::kCalling) return;
    if (state == auth::Call::State::kRefused) {
      throw Error(ErrorCode::kPeerLost,
                  "rank " + std::to_string(rank_) + ": " + name_of(peer) +
                      " does not take its call: " + call.why(),
                  peer);
    }
    streams_[peer] = call.take_stream();
    calls_[peer].reset();
  }

  auth::Judgement judge(const auth::Identity& caller) const {
    if (caller.from >= rank_ || caller != identity(caller.from, rank_)) {
      return auth::never("it is not who was called");
    }
    if (streams_[caller.from]) return auth::never("somebody else is that rank already");
    return {};
  }

  void wait() {
    const TimePoint now = Clock::now();
    TimePoint wake_at = std::min(end(), now + kLookEvery);
    polls_.clear();
    for (const auto& call : calls_) {
      if (!call) continue;
      call->add_to(polls_);
      if (const auto next = call->next_deadline()) wake_at = std::min(wake_at, *next);
    }
    reception_.add_to(polls_, now);
    if (const auto next = reception_.next_deadline()) wake_at = std::min(wake_at, *next);
    polls_.wait(wake_at);
  }

  TimePoint end() const {
    const bool is_calling = absent().back() > rank_;
    return is_calling ? deadline_ : deadline_ + kCallersFirst;
  }

  // By rank.
  std::vector<std::size_t> absent() const {
    std::vector<std::size_t> ranks;
    for (std::size_t peer = 0; peer < streams_.size(); ++peer) {
      if (peer != rank_ && !streams_[peer]) ranks.push_back(peer);
    }
    return ranks;
  }

  std::string name_of(std::size_t peer) const {
    return "rank " + std::to_string(peer) + " at " + terms_.addresses[peer];
  }

  [[noreturn]] void throw_absent() const {
    const auto ranks = absent();
    std::string names;
    std::string reasons;
    for (const std::size_t peer : ranks) {
      names += (names.empty() ? "rank " : ", rank ") + std::to_string(peer);
      if (calls_[peer] && !calls_[peer]->why().empty()) {
        reasons += "; " + name_of(peer) + ": " + calls_[peer]->why();
      }
    }
    if (!reception_.last_complaint().empty()) {
      reasons += "; the last who called in vain: " + reception_.last_complaint();
    }
    throw Error(ErrorCode::kTimeout,
                "rank " + std::to_string(rank_) + ": no connection with " + names +
                    " at the deadline" + reasons,
                ranks.front());
  }

  std::size_t rank_;
  const CallTerms& terms_;
  TimePoint deadline_;
  std::vector<auth::Stream> streams_;             // By peer, as is the next.
  std::vector<std::optional<auth::Call>> calls_;  // Those under way.
  auth::Reception reception_;
  os::PollSet polls_;
  std::optional<std::size_t> awaited_;  // The first that is absent.
  std::optional<TimePoint> report_at_;  // Until that is reported.
};

}  // namespace

std::vector<auth::Stream> connect_all(std::size_t rank, const CallTerms& terms, int listener,
                                      base::TimePoint deadline) {
  return Meeting(rank, terms, listener, deadline).run();
}

}  // namespace rota::transport::tcp

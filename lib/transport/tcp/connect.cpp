// Runs handshakes concurrently until every peer is connected.
#include "transport/tcp/connect.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <rota/error.h>

#include "auth/acceptor.h"
#include "auth/connector.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using base::TimePoint;

// The interval at which a wait checks its deadlines and calls look_around().
constexpr std::chrono::milliseconds kLookEvery{100};

// An accepting rank waits this much longer than the connecting rank. The connecting rank knows the
// obstacle, and must report it first.
constexpr std::chrono::milliseconds kCallersFirst{200};

// A wait for a peer is reported after this time, like a wait in an operation.
constexpr std::chrono::milliseconds kReportAfter{100};

class MeshConnector {
 public:
  MeshConnector(std::size_t rank, const CallTerms& terms, int listener, TimePoint deadline)
      : rank_(rank),
        terms_(terms),
        deadline_(deadline),
        streams_(terms.addresses.size()),
        calls_(terms.addresses.size()),
        acceptor_({.key = terms.key,
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
      if (terms_.look_around) terms_.look_around();
      for (std::size_t peer = 0; peer < calls_.size(); ++peer) {
        if (calls_[peer]) advance(peer);
      }
      for (auth::Acceptor::Member& member : acceptor_.receive(Clock::now())) {
        const std::size_t peer = member.identity.from;
        if (!is_there(peer)) streams_[peer] = std::move(member.stream);
      }
      if (absent().empty()) break;
      if (Clock::now() >= end()) throw_absent();
      report_wait();
      wait();
    }
    return std::move(streams_);
  }

 private:
  auth::Identity identity(std::size_t from, std::size_t to) const {
    return {.kind = auth::ConnectionKind::kData,
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
    auth::Connector& call = *calls_[peer];
    const auth::Connector::State state = call.advance(Clock::now());
    if (state == auth::Connector::State::kCalling) return;
    if (state == auth::Connector::State::kRefused) {
      throw Error(ErrorCode::kPeerLost,
                  "rank " + std::to_string(rank_) + ": " + name_of(peer) +
                      " refuses the connection: " + call.why(),
                  peer);
    }
    streams_[peer] = call.take_stream();
    calls_[peer].reset();
  }

  auth::Admission judge(const auth::Identity& caller) const {
    if (caller.from >= rank_ || caller != identity(caller.from, rank_)) {
      return auth::never("it is not the rank that was called");
    }
    if (is_there(caller.from)) {
      return auth::never("another process is already connected as rank " +
                         std::to_string(caller.from) + ": start each rank only once");
    }
    return {};
  }

  // Returns whether the peer is connected and has not hung up. A caller hangs up and calls again if
  // the answer to its call was late: then only the new call has a process at its other end.
  bool is_there(std::size_t peer) const {
    return streams_[peer] && !os::has_hung_up(streams_[peer].fd());
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
    acceptor_.add_to(polls_, now);
    if (const auto next = acceptor_.next_deadline()) wake_at = std::min(wake_at, *next);
    polls_.wait(wake_at);
  }

  TimePoint end() const {
    const bool is_calling = absent().back() > rank_;
    return is_calling ? deadline_ : deadline_ + kCallersFirst;
  }

  // Returns the peers that are not connected, in rank order.
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
      if (calls_[peer] && !calls_[peer]->explanation().empty()) {
        reasons += "; " + name_of(peer) + ": " + calls_[peer]->explanation();
      }
    }
    if (!acceptor_.last_complaint().empty()) {
      reasons += "; the last refused connection: " + acceptor_.last_complaint();
    }
    throw Error(ErrorCode::kTimeout,
                "rank " + std::to_string(rank_) + ": no connection with " + names +
                    " at the deadline" + reasons,
                ranks.front());
  }

  std::size_t rank_;
  const CallTerms& terms_;
  TimePoint deadline_;
  std::vector<auth::Stream> streams_;                  // Index = peer.
  std::vector<std::optional<auth::Connector>> calls_;  // Index = peer. Empty unless under way.
  auth::Acceptor acceptor_;
  os::PollSet polls_;
  std::optional<std::size_t> awaited_;  // The first absent peer.
  std::optional<TimePoint> report_at_;  // Empty once awaited_ is reported.
};

}  // namespace

std::vector<auth::Stream> connect_all(std::size_t rank, const CallTerms& terms, int listener,
                                      base::TimePoint deadline) {
  return MeshConnector(rank, terms, listener, deadline).run();
}

}  // namespace rota::transport::tcp

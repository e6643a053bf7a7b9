// A meeting: handshakes side by side until every peer is there.
#include "transport/tcp/connect.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "auth/exchange.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using base::TimePoint;
using State = auth::Handshake::State;

// With a caller that does not say who it is.
constexpr std::chrono::seconds kPatience{2};

// At who is too slow, and at what has happened elsewhere.
constexpr std::chrono::milliseconds kLookEvery{100};

// How long the reason of a peer's end may lag behind it.
constexpr std::chrono::milliseconds kReasonTime{200};

// So many may linger beside a whole world of members; then the oldest has to go.
constexpr std::size_t kStrangers = 64;

// A connection that is still shaking hands.
struct Caller {
  os::Fd socket;
  auth::Handshake handshake;
  std::optional<std::size_t> called;  // The peer, where we called.
  TimePoint since{};
};

class Meeting {
 public:
  Meeting(const ConnectOptions& options, int listener, TimePoint deadline)
      : options_(options),
        listener_(listener),
        deadline_(deadline),
        sockets_(options.addresses.size()) {}

  std::vector<os::Fd> run() {
    for (std::size_t peer = options_.rank + 1; peer < sockets_.size(); ++peer) call(peer);
    while (!absent().empty()) {
      if (Clock::now() >= deadline_) throw_absent();
      if (options_.look_around) options_.look_around();
      wait();
      accept_callers();
      for (Caller& caller : callers_) advance(caller);
      hang_up_on_oldest();
      std::erase_if(callers_, [](const Caller& caller) { return !caller.socket; });
    }
    return std::move(sockets_);
  }

 private:
  auth::Identity identity(std::size_t from, std::size_t to) const {
    return {.channel = auth::Channel::kData,
            .epoch = options_.epoch,
            .from = static_cast<std::uint32_t>(from),
            .to = static_cast<std::uint32_t>(to)};
  }

  void call(std::size_t peer) {
    os::Connecting connecting = os::start_connect(options_.addresses[peer]);
    if (connecting.failure) throw_refused(peer, *connecting.failure);
    callers_.push_back({std::move(connecting.socket),
                        auth::Handshake::call(options_.key, identity(options_.rank, peer)),
                        peer,
                        {}});
  }

  // A few at a time: what they say is read before there are too many of them.
  void accept_callers() {
    for (std::size_t i = 0; listener_ >= 0 && i < kStrangers; ++i) {
      os::Fd socket = os::accept_connection(listener_);
      if (!socket) return;
      callers_.push_back(
          {std::move(socket), auth::Handshake::answer(options_.key), std::nullopt, Clock::now()});
    }
  }

  // Of callers who have not said who they are, and only where there are too many: a member that had
  // no time yet to say so would be lost.
  void hang_up_on_oldest() {
    const auto is_unknown = [](const Caller& caller) { return caller.socket && !caller.called; };
    const auto unknown = std::count_if(callers_.begin(), callers_.end(), is_unknown);
    auto excess = unknown - static_cast<std::ptrdiff_t>(sockets_.size() + kStrangers);
    for (Caller& caller : callers_) {
      if (excess <= 0) return;
      if (!is_unknown(caller)) continue;
      caller.socket.reset();
      --excess;
    }
  }

  void wait() {
    polls_.clear();
    polls_.add(listener_, true, false);
    for (const Caller& caller : callers_) {
      const bool speaks = !caller.handshake.to_send().empty();
      polls_.add(caller.socket.get(), !speaks, speaks);
    }
    polls_.wait(std::min(deadline_, Clock::now() + kLookEvery));
  }

  void advance(Caller& caller) {
    if (!caller.socket) return;
    if (caller.called) {
      advance_own_call(caller);
    } else {
      advance_stranger(caller);
    }
  }

  void advance_own_call(Caller& caller) {
    const std::size_t peer = *caller.called;
    if (const auto failure = os::connect_result(caller.socket.get())) {
      throw_refused(peer, *failure);
    }
    if (!auth::advance(caller.handshake, caller.socket.get())) {
      throw_refused(peer, "it closed the connection");
    }
    if (caller.handshake.state() == State::kTalking) return;
    if (caller.handshake.state() != State::kDone) throw_refused(peer, caller.handshake.why());
    sockets_[peer] = std::move(caller.socket);
  }

  // Members who call are let in. Strangers are dropped.
  void advance_stranger(Caller& caller) {
    auth::Handshake& handshake = caller.handshake;
    const bool is_open = auth::advance(handshake, caller.socket.get());
    if (handshake.state() == State::kAsking) {
      judge(handshake);
      auth::advance(handshake, caller.socket.get());
    }
    if (handshake.state() == State::kDone) {
      sockets_[handshake.identity().from] = std::move(caller.socket);
    } else if (!is_open || handshake.state() != State::kTalking ||
               Clock::now() - caller.since > kPatience) {
      caller.socket.reset();
    }
  }

  void judge(auth::Handshake& handshake) {
    const std::size_t from = handshake.identity().from;
    if (from >= options_.rank || handshake.identity() != identity(from, options_.rank)) {
      return handshake.refuse("it is not who was called");
    }
    if (sockets_[from]) return handshake.refuse("somebody else is that rank already");
    handshake.accept();
  }

  std::vector<std::size_t> absent() const {
    std::vector<std::size_t> ranks;
    for (std::size_t peer = 0; peer < sockets_.size(); ++peer) {
      if (peer != options_.rank && !sockets_[peer]) ranks.push_back(peer);
    }
    return ranks;
  }

  [[noreturn]] void throw_absent() const {
    const auto ranks = absent();
    std::string names;
    for (const std::size_t peer : ranks) {
      names += (names.empty() ? "rank " : ", rank ") + std::to_string(peer);
    }
    throw Error(ErrorCode::kTimeout,
                "rank " + std::to_string(options_.rank) + ": no connection with " + names +
                    " at the deadline",
                ranks.front());
  }

  // A peer that is gone had a reason, which may be on its way.
  [[noreturn]] void throw_refused(std::size_t peer, const std::string& reason) const {
    const TimePoint until = Clock::now() + kReasonTime;
    while (options_.look_around && Clock::now() < until) {
      options_.look_around();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw Error(ErrorCode::kPeerLost,
                "rank " + std::to_string(options_.rank) + ": connecting to rank " +
                    std::to_string(peer) + " at " + options_.addresses[peer] + " failed: " + reason,
                peer);
  }

  const ConnectOptions& options_;
  int listener_;
  TimePoint deadline_;
  std::vector<os::Fd> sockets_;
  std::vector<Caller> callers_;
  os::PollSet polls_;
};

}  // namespace

std::vector<os::Fd> connect_all(const ConnectOptions& options, int listener,
                                base::TimePoint deadline) {
  return Meeting(options, listener, deadline).run();
}

}  // namespace rota::transport::tcp

// A meeting: handshakes side by side until every peer is there.
#include "transport/tcp/connect.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <rota/error.h>

#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "transport/tcp/hello.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using base::TimePoint;

// With a caller that does not say who it is.
constexpr std::chrono::seconds kPatience{2};

// At who is too slow, and at what has happened elsewhere.
constexpr std::chrono::milliseconds kLookEvery{100};

// So many may linger beside a whole world of members; then the oldest has to go.
constexpr std::size_t kStrangers = 64;

// A connection that is still shaking hands.
struct Handshake {
  os::Fd socket;
  bool calling = false;  // We called, so that we speak first and know who is there.
  std::size_t peer = 0;  // Known if `calling`.
  TimePoint since{};
  Hello sent{};
  std::size_t sent_bytes = 0;
  Hello received{};
  std::size_t received_bytes = 0;
};

class Meeting {
 public:
  Meeting(const ConnectOptions& options, int listener, TimePoint deadline)
      : options_(options),
        listener_(listener),
        deadline_(deadline),
        sockets_(options.addresses.size()) {}

  std::vector<os::Fd> run() {
    for (std::size_t peer = 0; peer < options_.rank; ++peer) call(peer);
    while (!absent().empty()) {
      if (Clock::now() >= deadline_) throw_absent();
      if (options_.look_around) options_.look_around();
      wait();
      accept_callers();
      for (Handshake& shake : shakes_) advance(shake);
      hang_up_on_oldest();
      std::erase_if(shakes_, [](const Handshake& shake) { return !shake.socket; });
    }
    return std::move(sockets_);
  }

 private:
  Hello hello_to(std::size_t peer) const {
    Hello hello;
    hello.nonce = options_.nonce;
    hello.epoch = options_.epoch;
    hello.from = static_cast<std::uint32_t>(options_.rank);
    hello.to = static_cast<std::uint32_t>(peer);
    return hello;
  }

  void call(std::size_t peer) {
    const std::string& address = options_.addresses[peer];
    os::Connecting connecting = os::start_connect(address);
    if (connecting.failure) throw_refused(peer, address, *connecting.failure);
    Handshake shake;
    shake.socket = std::move(connecting.socket);
    shake.calling = true;
    shake.peer = peer;
    shake.sent = hello_to(peer);
    shakes_.push_back(std::move(shake));
  }

  // A few at a time: what they say is read before there are too many of them.
  void accept_callers() {
    for (std::size_t i = 0; i < kStrangers; ++i) {
      os::Fd socket = os::accept_connection(listener_);
      if (!socket) return;
      Handshake shake;
      shake.socket = std::move(socket);
      shake.since = Clock::now();
      shakes_.push_back(std::move(shake));
    }
  }

  // Of callers who have not said who they are, and only where there are too many: a member that had
  // no time yet to say so would be lost.
  void hang_up_on_oldest() {
    const auto is_caller = [](const Handshake& shake) { return shake.socket && !shake.calling; };
    const auto callers = std::count_if(shakes_.begin(), shakes_.end(), is_caller);
    auto excess = callers - static_cast<std::ptrdiff_t>(sockets_.size() + kStrangers);
    for (Handshake& shake : shakes_) {
      if (excess <= 0) return;
      if (!is_caller(shake)) continue;
      shake.socket.reset();
      --excess;
    }
  }

  void wait() {
    polls_.clear();
    polls_.add(listener_, true, false);
    for (const Handshake& shake : shakes_) {
      const bool speaks = shake.calling && shake.sent_bytes < sizeof(Hello);
      polls_.add(shake.socket.get(), !speaks, speaks);
    }
    polls_.wait(std::min(deadline_, Clock::now() + kLookEvery));
  }

  void advance(Handshake& shake) {
    if (!shake.socket) return;
    const bool done = shake.calling ? advance_call(shake) : advance_caller(shake);
    if (done) sockets_[shake.peer] = std::move(shake.socket);
  }

  bool send_hello(Handshake& shake) {
    const auto bytes = std::as_bytes(std::span(&shake.sent, 1)).subspan(shake.sent_bytes);
    const os::Moved moved = os::send_some(shake.socket.get(), bytes, {});
    shake.sent_bytes += moved.bytes;
    return !moved.closed;
  }

  bool receive_hello(Handshake& shake) {
    const auto rest =
        std::as_writable_bytes(std::span(&shake.received, 1)).subspan(shake.received_bytes);
    const os::Moved moved = os::receive_some(shake.socket.get(), rest);
    shake.received_bytes += moved.bytes;
    return !moved.closed;
  }

  // True when the peer has answered as who it should be.
  bool advance_call(Handshake& shake) {
    const std::string& address = options_.addresses[shake.peer];
    if (const auto failure = os::connect_result(shake.socket.get())) {
      throw_refused(shake.peer, address, *failure);
    }
    if (shake.sent_bytes < sizeof(Hello) && !send_hello(shake)) {
      throw_refused(shake.peer, address, "it closed the connection");
    }
    if (shake.sent_bytes < sizeof(Hello)) return false;
    if (!receive_hello(shake)) throw_refused(shake.peer, address, "it closed the connection");
    if (shake.received_bytes < sizeof(Hello)) return false;
    if (!came_from(shake.received, shake.peer)) {
      throw_refused(shake.peer, address, "it belongs to another job");
    }
    return true;
  }

  // True when a member has called and has been answered. Strangers are dropped.
  bool advance_caller(Handshake& shake) {
    if (shake.received_bytes < sizeof(Hello)) {
      const bool open = receive_hello(shake);
      if (!open || Clock::now() - shake.since > kPatience) shake.socket.reset();
      if (shake.received_bytes < sizeof(Hello)) return false;
      const std::size_t from = shake.received.from;
      const bool expected = from > options_.rank && from < sockets_.size() && !sockets_[from];
      if (!expected || !came_from(shake.received, from)) {
        shake.socket.reset();
        return false;
      }
      shake.peer = from;
      shake.sent = hello_to(from);
    }
    if (!send_hello(shake)) shake.socket.reset();
    return shake.socket && shake.sent_bytes == sizeof(Hello);
  }

  bool came_from(const Hello& hello, std::size_t peer) const {
    Hello expected = hello_to(peer);
    std::swap(expected.from, expected.to);
    return hello == expected;
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

  [[noreturn]] void throw_refused(std::size_t peer, const std::string& address,
                                  const std::string& reason) const {
    throw Error(ErrorCode::kPeerLost,
                "rank " + std::to_string(options_.rank) + ": connecting to rank " +
                    std::to_string(peer) + " at " + address + " failed: " + reason,
                peer);
  }

  const ConnectOptions& options_;
  int listener_;
  TimePoint deadline_;
  std::vector<os::Fd> sockets_;
  std::vector<Handshake> shakes_;
  os::PollSet polls_;
};

}  // namespace

std::vector<os::Fd> connect_all(const ConnectOptions& options, int listener,
                                base::TimePoint deadline) {
  return Meeting(options, listener, deadline).run();
}

}  // namespace rota::transport::tcp

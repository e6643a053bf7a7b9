// Uses threads that poll: one for each relay, and one for each flood.
#include "timed/distance.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "os/quiet_thread.h"
#include "os/tcp_socket.h"

namespace rota::testing {
namespace {

using base::TimePoint;
using std::chrono::milliseconds;

// The interval at which a thread polls for its end.
constexpr milliseconds kNap{20};

}  // namespace

os::Fd connect_from(const std::string& source, const os::Address& target) {
  os::Fd socket(::socket(target.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const os::Address own = os::parse_address(source + ":0");
  const int on = 1;
  if (!socket ||
      ::setsockopt(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) != 0 ||
      ::bind(socket.get(), own.get(), own.bytes()) != 0) {
    throw std::runtime_error("no socket at " + source);
  }
  (void)!::connect(socket.get(), target.get(), target.bytes());  // A later write shows a failure.
  return socket;
}

Relay::Relay(std::string source, const std::string& target, milliseconds delay)
    : source_(std::move(source)),
      target_(os::parse_address(target)),
      delay_(delay),
      listener_(os::listen_on_loopback()),
      thread_(os::start_quiet_thread([this] { run(); })) {}

Relay::~Relay() {
  is_ending_ = true;
  thread_.join();
}

void Relay::run() {
  while (!is_ending_) {
    const TimePoint next = turn(base::Clock::now());
    polls_.wait(next);
  }
}

// Passes on parcels that are due, and reads new bytes. Returns when to poll again.
TimePoint Relay::turn(TimePoint now) {
  accept(now);
  polls_.clear();
  polls_.add(listener_.socket.get(), true, false);
  TimePoint next = now + kNap;
  for (Wire& wire : wires_) {
    if (!wire.target.socket && now >= wire.call_at) {
      wire.target.socket = connect_from(source_, target_);
    }
    if (!wire.target.socket) {
      next = std::min(next, wire.call_at);
      continue;
    }
    hear(wire.caller, wire.target, now);
    hear(wire.target, wire.caller, now);
    const bool caller_ended = deliver(wire.caller, now);
    wire.is_over = deliver(wire.target, now) || caller_ended;
    for (const Way* way : {&wire.caller, &wire.target}) {
      if (way->is_heard) polls_.add(way->socket.get(), true, false);
      if (!way->parcels.empty()) next = std::min(next, way->parcels.front().due);
    }
  }
  wires_.remove_if([](const Wire& wire) { return wire.is_over; });
  return next;
}

void Relay::accept(TimePoint now) {
  for (;;) {
    os::Accepted accepted = os::accept_connection(listener_.socket.get());
    if (!accepted.socket) return;
    wires_.push_back(
        {.call_at = now + delay_, .caller = {.socket = std::move(accepted.socket)}, .target = {}});
  }
}

void Relay::hear(Way& from, Way& to, TimePoint now) {
  while (from.is_heard) {
    std::array<std::byte, 4096> bytes;
    const os::Moved moved = os::receive_some(from.socket.get(), bytes);
    if (moved.closed) from.is_heard = false;
    if (moved.bytes == 0 && !moved.closed) return;
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    to.parcels.push_back({now + delay_, std::string(begin, moved.bytes)});
  }
}

// Returns true once the end is delivered, or the receiver has closed.
bool Relay::deliver(Way& to, TimePoint now) {
  while (!to.parcels.empty() && to.parcels.front().due <= now) {
    const std::string& bytes = to.parcels.front().bytes;
    if (bytes.empty()) return true;
    const os::Moved moved = os::send_some(to.socket.get(), std::as_bytes(std::span(bytes)), {});
    if (moved.closed) return true;
    if (moved.bytes == 0) return false;
    to.parcels.front().bytes.erase(0, moved.bytes);
    if (to.parcels.front().bytes.empty()) to.parcels.pop_front();
  }
  return false;
}

Flood::Flood(const std::string& target, std::size_t socket_count, std::size_t source_count)
    : target_(os::parse_address(target)),
      source_count_(source_count),
      sockets_(socket_count),
      thread_(os::start_quiet_thread([this] { run(); })) {
  while (opened_count_ < socket_count) std::this_thread::sleep_for(milliseconds(1));
}

Flood::~Flood() {
  is_ending_ = true;
  thread_.join();
}

// Resets the old connection, so its port is free immediately.
void Flood::open(std::size_t index) {
  if (sockets_[index]) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(sockets_[index].get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  const std::string source = "127.0.1." + std::to_string(1 + index % source_count_);
  sockets_[index] = connect_from(source, target_);
  ++opened_count_;
}

void Flood::run() {
  for (std::size_t i = 0; i < sockets_.size() && !is_ending_; ++i) open(i);
  os::PollSet polls;
  while (!is_ending_) {
    polls.clear();
    for (const os::Fd& socket : sockets_) polls.add(socket.get(), true, false);
    polls.wait(base::Clock::now() + kNap);
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      if (!polls.readable(i)) continue;
      std::array<std::byte, 256> heard;
      if (os::receive_some(sockets_[i].get(), heard).closed) open(i);
    }
  }
}

}  // namespace rota::testing

// Callers side by side, each for a short while.
#include "launcher/status_port.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <rota/error.h>

#include "launcher/options.h"
#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

constexpr std::size_t kMostCallers = 64;

// In one turn, so that the job's own business is never far.
constexpr std::size_t kMostNewcomers = 16;

// For each of: to ask, to take the answer and to hang up.
constexpr std::chrono::seconds kPatience{2};

// Where descriptors lack and no caller has any, somebody else has to give some back first.
constexpr std::chrono::milliseconds kDeafTime{100};

// So much may follow a request, such as the body of a POST.
constexpr std::size_t kMostIgnoredBytes = 64 * 1024;

os::Listener listen(const std::string& address) {
  try {
    return os::listen_on(os::parse_address(address));
  } catch (const Error& error) {
    throw UsageError("--status-port " + address + ": " + error.what());
  }
}

}  // namespace

StatusPort::StatusPort(const std::string& address, std::function<JobStatus()> status)
    : listener_(listen(address)), status_(std::move(status)) {}

void StatusPort::add_to(os::PollSet& polls, base::TimePoint now) {
  if (deaf_until_ && now >= *deaf_until_) deaf_until_.reset();
  position_ = deaf_until_ ? kNotPolled : polls.add(listener_.socket.get(), true, false);
  for (Caller& caller : callers_) {
    const bool speaks = caller.turn != Caller::Turn::kHearing;
    caller.position = polls.add(caller.socket.get(), speaks, !speaks);
  }
}

// Who has asked already is answered before the oldest has to go.
void StatusPort::handle(const os::PollSet& polls, base::TimePoint now) {
  for (Caller& caller : callers_) {
    const std::size_t position = std::exchange(caller.position, kNotPolled);
    if (position == kNotPolled) continue;
    if (polls.readable(position) || polls.writable(position)) advance(caller, now);
  }
  const std::size_t position = std::exchange(position_, kNotPolled);
  if (position != kNotPolled && polls.readable(position)) accept(now);
  callers_.remove_if(
      [&](const Caller& caller) { return !caller.socket || now >= caller.deadline; });
  while (callers_.size() > kMostCallers) callers_.pop_front();
}

void StatusPort::accept(base::TimePoint now) {
  for (std::size_t i = 0; i < kMostNewcomers; ++i) {
    os::Accepted accepted = os::accept_connection(listener_.socket.get());
    if (!accepted.lack.empty() && !callers_.empty()) {
      callers_.pop_front();
      continue;
    }
    if (!accepted.lack.empty()) deaf_until_ = now + kDeafTime;
    if (!accepted.socket) return;
    callers_.push_back({.socket = std::move(accepted.socket), .deadline = now + kPatience});
    advance(callers_.back(), now);  // Most have asked by then.
  }
}

void StatusPort::advance(Caller& caller, base::TimePoint now) {
  using Turn = Caller::Turn;
  if (caller.turn == Turn::kAsking) listen_to(caller, now);
  if (caller.turn == Turn::kHearing) speak_to(caller);
  if (caller.turn == Turn::kLeaving) see_off(caller);
}

void StatusPort::listen_to(Caller& caller, base::TimePoint now) {
  std::array<char, kMaxRequestBytes> buffer;
  const std::span<char> room(buffer.data(), buffer.size() - caller.request.size());
  const os::Moved moved = os::receive_some(caller.socket.get(), std::as_writable_bytes(room));
  if (moved.closed) return caller.socket.reset();
  caller.request.append(buffer.data(), moved.bytes);
  const HttpReading reading = read_http_request(caller.request);
  if (reading.state == HttpReading::State::kIncomplete) return;
  caller.response = answer(reading, status_);
  caller.turn = Caller::Turn::kHearing;
  caller.deadline = now + kPatience;
}

void StatusPort::speak_to(Caller& caller) {
  const std::span<const char> rest = std::span(caller.response).subspan(caller.sent_bytes);
  const os::Moved moved = os::send_some(caller.socket.get(), std::as_bytes(rest), {});
  if (moved.closed) return caller.socket.reset();
  caller.sent_bytes += moved.bytes;
  if (caller.sent_bytes < caller.response.size()) return;
  os::end_sending(caller.socket.get());
  caller.turn = Caller::Turn::kLeaving;
}

void StatusPort::see_off(Caller& caller) {
  std::array<std::byte, kMaxRequestBytes> buffer;
  const os::Moved moved = os::receive_some(caller.socket.get(), buffer);
  caller.ignored_bytes += moved.bytes;
  if (moved.closed || caller.ignored_bytes > kMostIgnoredBytes) caller.socket.reset();
}

std::optional<base::TimePoint> StatusPort::next_deadline() const {
  std::optional<base::TimePoint> next = deaf_until_;
  for (const Caller& caller : callers_) {
    if (!next || caller.deadline < *next) next = caller.deadline;
  }
  return next;
}

}  // namespace rota::launcher

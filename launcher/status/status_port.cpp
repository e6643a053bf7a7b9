// Callers side by side, each for a short while.
#include "launcher/status/status_port.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include <rota/error.h>

#include "launcher/command/options.h"
#include "os/host.h"
#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

// Where so many descriptors are there: callers have an eighth of those that this process may have,
// so that the job finds others.
constexpr std::uint64_t kMostCallers = 1024;
constexpr std::uint64_t kFewestCallers = 16;
constexpr std::uint64_t kShareOfDescriptors = 8;

std::size_t most_callers() {
  const std::uint64_t share = os::open_file_limits().soft / kShareOfDescriptors;
  return static_cast<std::size_t>(std::clamp(share, kFewestCallers, kMostCallers));
}

// In one turn, so that the job's own business is never far.
constexpr std::size_t kMostNewcomers = 16;
constexpr std::size_t kMostAnswers = 16;

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

std::string crowd_of(const os::Address& caller) {
  if (caller.family() != AF_INET6) return caller.host();
  sockaddr_in6 address{};
  std::memcpy(&address, caller.get(), sizeof address);
  std::ranges::fill(std::span(address.sin6_addr.s6_addr).subspan(8), std::uint8_t{0});
  address.sin6_port = 0;
  return os::Address(reinterpret_cast<const sockaddr*>(&address), sizeof address).host() + "/64";
}

StatusPort::StatusPort(const std::string& address, std::function<JobStatus()> status,
                       std::vector<std::string> names_in_job)
    : listener_(listen(address)),
      status_(std::move(status)),
      most_callers_(most_callers()),
      names_{.full = os::host_name(), .of_job = std::move(names_in_job)} {}

void StatusPort::add_to(os::PollSet& polls, base::TimePoint now) {
  if (deaf_until_ && now >= *deaf_until_) deaf_until_.reset();
  position_ = deaf_until_ ? kNotPolled : polls.add(listener_.socket.get(), true, false);
  for (Caller& caller : callers_) {
    const bool speaks = caller.turn != Caller::Turn::kHearing;
    caller.position = polls.add(caller.socket.get(), speaks, !speaks);
  }
}

// Who has asked already is answered before anybody has to go.
void StatusPort::handle(const os::PollSet& polls, base::TimePoint now) {
  Moment moment(status_);
  answer_count_ = 0;
  for (Caller& caller : callers_) {
    const std::size_t position = std::exchange(caller.position, kNotPolled);
    if (position == kNotPolled) continue;
    if (polls.readable(position) || polls.writable(position)) advance(caller, now, moment);
  }
  const std::size_t position = std::exchange(position_, kNotPolled);
  if (position != kNotPolled && polls.readable(position)) accept(now, moment);
  callers_.remove_if(
      [&](const Caller& caller) { return !caller.socket || now >= caller.deadline; });
  make_room(most_callers_);
}

// Those from where most call have to go, the oldest first: whoever calls from elsewhere is heard.
void StatusPort::make_room(std::size_t most) {
  if (callers_.size() <= most) return;
  std::map<std::string, std::size_t> counts;
  for (const Caller& caller : callers_) ++counts[caller.crowd];
  const auto size_of = [&](const Caller& caller) { return counts[caller.crowd]; };
  while (callers_.size() > most) {
    const auto oldest = std::ranges::max_element(callers_, {}, size_of);  // The first of several.
    --counts[oldest->crowd];
    callers_.erase(oldest);
  }
}

void StatusPort::accept(base::TimePoint now, Moment& moment) {
  for (std::size_t i = 0; i < kMostNewcomers; ++i) {
    os::Accepted accepted = os::accept_connection(listener_.socket.get());
    if (!accepted.lack.empty() && !callers_.empty()) {
      make_room(callers_.size() - 1);
      continue;
    }
    if (!accepted.lack.empty()) deaf_until_ = now + kDeafTime;
    if (!accepted.socket) return;
    callers_.push_back({.socket = std::move(accepted.socket),
                        .crowd = crowd_of(*accepted.caller),
                        .deadline = now + kPatience});
    advance(callers_.back(), now, moment);  // Most have asked by then.
  }
}

void StatusPort::advance(Caller& caller, base::TimePoint now, Moment& moment) {
  using Turn = Caller::Turn;
  if (caller.turn == Turn::kAsking) listen_to(caller, now, moment);
  if (caller.turn == Turn::kHearing) speak_to(caller);
  if (caller.turn == Turn::kLeaving) see_off(caller);
}

// Whoever is one too many in this turn is still readable in the next one.
void StatusPort::listen_to(Caller& caller, base::TimePoint now, Moment& moment) {
  if (answer_count_ == kMostAnswers) {
    caller.deadline = now + kPatience;
    return;
  }
  std::array<char, kMaxRequestBytes> buffer;
  const std::span<char> room(buffer.data(), buffer.size() - caller.request.size());
  const os::Moved moved = os::receive_some(caller.socket.get(), std::as_writable_bytes(room));
  if (moved.closed) return caller.socket.reset();
  caller.request.append(buffer.data(), moved.bytes);
  const HttpReading reading = read_http_request(caller.request);
  if (reading.state == HttpReading::State::kIncomplete) return;
  caller.response = answer(reading, names_, moment);
  ++answer_count_;
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

// Serves the callers of the status port in parallel, each for a short while, so that no caller can
// delay the job.
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
#include "os/patient_listener.h"
#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

// Bounds of the number of callers. Within them, callers get an eighth of the descriptors that this
// process may have, so that the job finds free ones.
constexpr std::uint64_t kMostCallers = 1024;
constexpr std::uint64_t kFewestCallers = 16;
constexpr std::uint64_t kShareOfDescriptors = 8;

std::size_t most_callers() {
  const std::uint64_t share = os::open_file_limits().soft / kShareOfDescriptors;
  return static_cast<std::size_t>(std::clamp(share, kFewestCallers, kMostCallers));
}

// Limits for one iteration of the loop, so that the job's own work never waits long.
constexpr std::size_t kMostNewcomers = 16;
constexpr std::size_t kMostAnswers = 16;

// How long a caller may take for each step: to ask, to take the answer, to hang up.
constexpr std::chrono::seconds kRequestTimeout{2};

// How long no caller is accepted if no descriptor is free and no caller holds one: another part of
// rotarun must close one first.
constexpr std::chrono::milliseconds kFullTime{100};

// The largest number of bytes that may follow a request, such as the body of a POST.
constexpr std::size_t kMostIgnoredBytes = 64 * 1024;

}  // namespace

os::Listener listen_for_status(const std::string& address, const os::SignalWatch& signals) {
  const auto listen = [&] { return os::listen_on(os::parse_address(address)); };
  const std::string flag = "--status-port " + address + ": ";
  try {
    auto listener = os::listen_patiently(listen, signals);
    return listener ? *std::move(listener) : listen();
  } catch (const os::AddressInUse& error) {
    throw UsageError(flag + error.what() +
                     ": end the process that has this port, or give another one");
  } catch (const Error& error) {
    throw UsageError(flag + error.what());
  }
}

std::string crowd_of(const os::Address& caller) {
  if (caller.family() != AF_INET6) return caller.host();
  sockaddr_in6 address{};
  std::memcpy(&address, caller.get(), sizeof address);
  std::ranges::fill(std::span(address.sin6_addr.s6_addr).subspan(8), std::uint8_t{0});
  address.sin6_port = 0;
  return os::Address(reinterpret_cast<const sockaddr*>(&address), sizeof address).host() + "/64";
}

StatusPort::StatusPort(os::Listener listener, std::function<JobStatus()> status,
                       std::vector<std::string> names_in_job)
    : listener_(std::move(listener)),
      status_(std::move(status)),
      most_callers_(most_callers()),
      names_{.full = os::host_name(), .of_job = std::move(names_in_job)} {}

void StatusPort::add_to(os::PollSet& polls, base::TimePoint now) {
  if (full_until_ && now >= *full_until_) full_until_.reset();
  position_ = full_until_ ? kNotPolled : polls.add(listener_.socket.get(), true, false);
  for (Caller& caller : callers_) {
    const bool speaks = caller.turn != Caller::Turn::kHearing;
    caller.position = polls.add(caller.socket.get(), speaks, !speaks);
  }
}

// Handles all callers. Callers that have asked already are answered before any caller has to go.
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

// Drops callers until `most` remain: those of the largest crowd, the oldest first, so that callers
// from elsewhere are served.
void StatusPort::make_room(std::size_t most) {
  if (callers_.size() <= most) return;
  std::map<std::string, std::size_t> counts;
  for (const Caller& caller : callers_) ++counts[caller.crowd];
  const auto size_of = [&](const Caller& caller) { return counts[caller.crowd]; };
  while (callers_.size() > most) {
    const auto oldest = std::ranges::max_element(callers_, {}, size_of);  // The first if equal.
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
    if (!accepted.lack.empty()) full_until_ = now + kFullTime;
    if (!accepted.socket) return;
    callers_.push_back({.socket = std::move(accepted.socket),
                        .crowd = crowd_of(*accepted.caller),
                        .deadline = now + kRequestTimeout});
    advance(callers_.back(), now, moment);  // Most callers have asked by then.
  }
}

void StatusPort::advance(Caller& caller, base::TimePoint now, Moment& moment) {
  using Turn = Caller::Turn;
  if (caller.turn == Turn::kAsking) listen_to(caller, now, moment);
  if (caller.turn == Turn::kHearing) speak_to(caller);
  if (caller.turn == Turn::kLeaving) see_off(caller);
}

// Reads what a caller asks. A caller that gets no answer in this iteration is still readable in the
// next one.
void StatusPort::listen_to(Caller& caller, base::TimePoint now, Moment& moment) {
  if (answer_count_ == kMostAnswers) {
    caller.deadline = now + kRequestTimeout;
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
  caller.deadline = now + kRequestTimeout;
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
  std::optional<base::TimePoint> next = full_until_;
  for (const Caller& caller : callers_) {
    if (!next || caller.deadline < *next) next = caller.deadline;
  }
  return next;
}

}  // namespace rota::launcher

// How a host that does not lead comes into the job.
#include "launcher/hosts/meet/approach.h"

#include <algorithm>
#include <array>
#include <utility>

#include "auth/call.h"
#include "launcher/command/exit_codes.h"
#include "launcher/hosts/meet/tree.h"
#include "launcher/job/start.h"
#include "launcher/ranks/heartbeat.h"
#include "os/address.h"
#include "os/pipe.h"
#include "os/poll_set.h"

namespace rota::launcher {
namespace {

using base::Clock;

auth::Call call_parent(const Part& part) {
  const Meeting& meeting = part.meeting;
  const std::size_t parent = parent_of(meeting, meeting.own_host);
  return auth::Call(place_of(meeting, parent), secret_of(part),
                    {.channel = auth::Channel::kHosts,
                     .job_id = to_bytes(meeting.job_id),
                     .epoch = meeting.cluster.epoch.value_or(0),
                     .from = static_cast<std::uint32_t>(meeting.own_host),
                     .to = static_cast<std::uint32_t>(parent)});
}

std::string obstacle_of(const auth::Call& call) {
  return call.why().empty() ? "it does not answer" : call.why();
}

// What one says who is there; what comes after it, such as that nobody is there any more, tells
// less.
struct LastWord {
  int code = 0;
  std::string why;
};

std::optional<LastWord> word_of(const auth::Call& call) {
  switch (call.verdict()) {
    case auth::Verdict::kNone:
    case auth::Verdict::kAccepted:
    case auth::Verdict::kCrowded:  // Of strangers: it has not seen who this is.
      return std::nullopt;
    case auth::Verdict::kNotNow:
      return LastWord{kExitIncomplete, call.why()};
    case auth::Verdict::kNever:
    case auth::Verdict::kOneEncrypts:
      return LastWord{kExitSpecification, call.why()};
    case auth::Verdict::kOtherKey:
      return LastWord{kExitKey, call.why()};
  }
  return std::nullopt;
}

int give_up(const auth::Call& call, const std::optional<LastWord>& last_word, const Part& part,
            base::Duration waited) {
  const Meeting& meeting = part.meeting;
  if (last_word) {
    complain(parent_text(meeting) + " did not let this host in: " + last_word->why);
    return last_word->code;
  }
  complain(parent_text(meeting) + " was not reached within " + base::to_text(waited) +
           " (--join-timeout): " + obstacle_of(call) + calling_hint(part, call.why(), waited));
  return kExitIncomplete;
}

// One turn of the wait; the exit code where it was the last one.
std::optional<int> wait(const Part& part, auth::Call& call, StatusPort* status_port,
                        base::TimePoint end) {
  os::PollSet polls;
  polls.add(part.signals.fd(), true, false);
  const std::size_t lifeline = part.lifeline < 0 ? 0 : polls.add(part.lifeline, true, false);
  call.add_to(polls);
  end = std::min(end, call.next_deadline().value_or(end));
  if (status_port) {
    status_port->add_to(polls, Clock::now());
    end = std::min(end, status_port->next_deadline().value_or(end));
  }
  wait_beating(polls, end);
  if (status_port) status_port->handle(polls, Clock::now());
  if (const auto code = end_by_signal(part.signals, part.meeting)) return code;
  if (lifeline > 0 && polls.readable(lifeline) && has_ended(part.lifeline)) return kExitSilent;
  return std::nullopt;
}

}  // namespace

std::string parent_text(const Meeting& meeting) {
  const std::size_t parent = parent_of(meeting, meeting.own_host);
  return name_of_host(meeting, parent) + " at " + place_of(meeting, parent);
}

std::optional<int> end_by_signal(os::SignalWatch& signals, const Meeting& meeting) {
  while (const auto signal = signals.next()) {
    if (signal->number == SIGCHLD) continue;
    complain("got " + os::signal_name(signal->number) + " while waiting for " +
             parent_text(meeting));
    return kExitSignalBase + signal->number;
  }
  return std::nullopt;
}

bool has_ended(int lifeline) {
  std::array<char, 64> ignored{};
  return os::read_available(lifeline, ignored).io == os::Io::kClosed;
}

std::variant<Arrival, int> approach(const Part& part, base::TimePoint start,
                                    StatusPort* status_port) {
  using State = auth::Call::State;
  const base::TimePoint deadline = start + join_timeout(part.options, part.meeting);
  base::TimePoint say_at = Clock::now() + kSayTime;
  auth::Call call = call_parent(part);
  State state = State::kCalling;
  std::optional<LastWord> last_word;
  while ((state = call.advance(Clock::now())) == State::kCalling && Clock::now() < deadline) {
    if (auto word = word_of(call)) last_word = std::move(word);
    if (Clock::now() >= say_at) {
      complain("waiting for " + parent_text(part.meeting) + ": " + obstacle_of(call) +
               calling_hint(part, call.why(), Clock::now() - start));
      say_at += kSayTime;
    }
    if (const auto code = wait(part, call, status_port, std::min(deadline, say_at))) return *code;
  }
  if (state == State::kRefused) last_word = word_of(call);
  if (state != State::kDone) return give_up(call, last_word, part, Clock::now() - start);
  auth::Stream stream = call.take_stream();
  std::string address = os::local_address(stream.fd()).host();
  auto line = std::make_unique<rendezvous::RemoteLine>(std::move(stream), call.session_keys());
  return Arrival{.trunk = std::make_unique<Trunk>(std::move(line), Clock::now()),
                 .address = std::move(address),
                 .incarnation = call.incarnation()};
}

}  // namespace rota::launcher

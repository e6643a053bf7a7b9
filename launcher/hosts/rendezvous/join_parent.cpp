// Connects a host that does not lead to its parent. While the parent does not answer, prints the
// reason every few seconds, and gives up after --join-timeout.
#include "launcher/hosts/rendezvous/join_parent.h"

#include <algorithm>
#include <array>
#include <utility>

#include "auth/connector.h"
#include "launcher/command/exit_codes.h"
#include "launcher/hosts/rendezvous/host_tree.h"
#include "launcher/job/start.h"
#include "launcher/ranks/heartbeat.h"
#include "os/address.h"
#include "os/pipe.h"
#include "os/poll_set.h"

namespace rota::launcher {
namespace {

using base::Clock;

auth::Connector call_parent(const HostSetup& setup) {
  const HostPlan& host_plan = setup.host_plan;
  const std::size_t parent = parent_of(host_plan, host_plan.own_host);
  return auth::Connector(place_of(host_plan, parent), secret_of(setup),
                         {.kind = auth::ConnectionKind::kHosts,
                          .job_id = to_bytes(host_plan.job_id),
                          .epoch = host_plan.cluster.epoch.value_or(0),
                          .from = static_cast<std::uint32_t>(host_plan.own_host),
                          .to = static_cast<std::uint32_t>(parent)});
}

std::string obstacle_of(const auth::Connector& call) {
  return call.why().empty() ? "it does not answer" : call.why();
}

// Returns the exit code of a host that its parent did not let in.
int exit_code_for(auth::Verdict verdict) {
  switch (verdict) {
    case auth::Verdict::kOtherKey:
      return kExitKey;
    case auth::Verdict::kNever:
    case auth::Verdict::kOneEncrypts:
      return kExitSpecification;
    default:
      return kExitIncomplete;
  }
}

int give_up(const auth::Connector& call, const HostSetup& setup, base::Duration waited) {
  const HostPlan& host_plan = setup.host_plan;
  if (const auto& answer = call.last_answer()) {
    complain(parent_text(host_plan) + " did not let this host in: " + answer->why);
    return exit_code_for(answer->verdict);
  }
  complain(parent_text(host_plan) + " was not reached within " + base::to_text(waited) +
           " (--join-timeout): " + obstacle_of(call) + calling_hint(setup, call.why(), waited) +
           container_hint(host_plan));
  return kExitIncomplete;
}

// Makes one iteration of the wait. Returns the exit code if the wait ends here.
std::optional<int> wait(const HostSetup& setup, auth::Connector& call, StatusPort* status_port,
                        base::TimePoint end) {
  os::PollSet polls;
  polls.add(setup.signals.fd(), true, false);
  const std::size_t lifeline = setup.lifeline < 0 ? 0 : polls.add(setup.lifeline, true, false);
  call.add_to(polls);
  end = std::min(end, call.next_deadline().value_or(end));
  if (status_port) {
    status_port->add_to(polls, Clock::now());
    end = std::min(end, status_port->next_deadline().value_or(end));
  }
  wait_beating(polls, end);
  if (status_port) status_port->handle(polls, Clock::now());
  if (const auto code = end_by_signal(setup.signals, setup.host_plan)) return code;
  if (lifeline > 0 && polls.readable(lifeline) && has_ended(setup.lifeline)) return kExitSilent;
  return std::nullopt;
}

}  // namespace

std::string parent_text(const HostPlan& host_plan) {
  const std::size_t parent = parent_of(host_plan, host_plan.own_host);
  return name_of_host(host_plan, parent) + " at " + place_of(host_plan, parent);
}

std::optional<int> end_by_signal(os::SignalWatch& signals, const HostPlan& host_plan) {
  const auto number = next_request(signals);
  if (!number) return std::nullopt;
  complain("got " + os::signal_name(*number) + " while waiting for " + parent_text(host_plan));
  return kExitSignalBase + *number;
}

bool has_ended(int lifeline) {
  std::array<char, 64> ignored{};
  return os::read_available(lifeline, ignored).io == os::Io::kClosed;
}

std::variant<ParentLink, int> join_parent(const HostSetup& setup, base::TimePoint start,
                                          StatusPort* status_port) {
  using State = auth::Connector::State;
  const base::TimePoint deadline = start + join_timeout(setup.options, setup.host_plan);
  base::TimePoint say_at = Clock::now() + kSayTime;
  auth::Connector call = call_parent(setup);
  State state = State::kCalling;
  while ((state = call.advance(Clock::now())) == State::kCalling && Clock::now() < deadline) {
    if (Clock::now() >= say_at) {
      complain("waiting for " + parent_text(setup.host_plan) + ": " + obstacle_of(call) +
               calling_hint(setup, call.why(), Clock::now() - start));
      say_at += kSayTime;
    }
    if (const auto code = wait(setup, call, status_port, std::min(deadline, say_at))) return *code;
  }
  if (state != State::kDone) return give_up(call, setup, Clock::now() - start);
  auth::Stream stream = call.take_stream();
  std::string address = os::local_address(stream.fd()).host();
  auto connection =
      std::make_unique<rendezvous::RemoteConnection>(std::move(stream), call.session_keys());
  return ParentLink{.link = std::make_unique<LauncherLink>(std::move(connection), Clock::now()),
                    .address = std::move(address),
                    .incarnation = call.incarnation()};
}

}  // namespace rota::launcher

// Runs a follower, a host that does not lead, up to the point at which it prepares its ranks. The
// follower joins the job. It reacts to its parent, to the hosts below it and to signals. If an
// agent started it, it also reacts to the end of its lifeline, the standard input that the agent
// gave it.
#include "launcher/hosts/follower.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <variant>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/job/end_report.h"
#include "launcher/job/exit_policy.h"
#include "launcher/job/start.h"
#include "launcher/ranks/heartbeat.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

constexpr std::chrono::milliseconds kPauseBetweenWorlds{200};

}  // namespace

Follower::Follower(HostSetup setup)
    : setup_(std::move(setup)),
      is_alone_(setup_.lifeline < 0),
      start_(base::Clock::now()),
      now_(start_) {
  if (!setup_.options.status_address) return;
  status_port_.emplace(
      listen_for_status(*setup_.options.status_address, setup_.signals),
      [this] { return status(); }, own_names(setup_.host_plan));
}

int Follower::run() {
  for (;;) {
    if (const auto code = enter()) return *code;
    while (!exit_code_ && !comes_again_) turn();
    if (exit_code_) return finish();
    leave();
  }
}

void Follower::speak(const std::string& line) {
  note_reason(line);
  processes_ ? processes_->say(line) : complain(line);
}

// Joins the job. Returns the exit code if this host cannot join.
std::optional<int> Follower::enter() {
  comes_again_ = false;
  auto outcome = join_parent(setup_, start_, status_port_ ? &*status_port_ : nullptr);
  if (const int* code = std::get_if<int>(&outcome)) return *code;
  ParentLink parent_link = std::get<ParentLink>(std::move(outcome));
  now_ = base::Clock::now();
  address_ = std::move(parent_link.address);
  link_ = std::move(parent_link.link);
  subtree_ =
      std::make_unique<Subtree>(setup_.host_plan,
                                Subtree::Access{.secret = secret_of(setup_),
                                                .incarnation = parent_link.incarnation,
                                                .listener = std::move(setup_.listener)},
                                setup_.own, [this](const std::string& line) { speak(line); });
  say_at_ = now_ + kSayTime;
  tell_parent();
  return std::nullopt;
}

// Leaves the job before any rank has started. This host and the hosts below it connect again. The
// pause keeps this host from connecting in a tight loop to a parent that admits it and then hangs
// up.
void Follower::leave() {
  setup_.listener = subtree_->take_listener();
  connections_.reset();
  local_.reset();
  processes_.reset();
  prepared_.reset();
  subtree_.reset();
  link_.reset();
  std::this_thread::sleep_for(kPauseBetweenWorlds);
}

void Follower::turn() {
  wait();
  if (status_port_) status_port_->handle(polls_, now_);
  const bool were_polled = processes_ != nullptr;
  hear_parent();
  hear_children();
  hear_lifeline();
  hear_signals();
  if (were_polled) {
    processes_->hear_starts(polls_);
    connections_->handle(polls_, now_);
    for (const JobEvent& event : local_->hear_mpi(polls_, now_)) report(event);
    processes_->hear_processes();
    processes_->pass_on_output(polls_);
    local_->look(now_);
    connections_->send_all(now_);
  }
  regulate_output();
  watch_end();
}

void Follower::wait() {
  link_->send_all(now_);
  subtree_->send_all(now_);
  polls_.clear();
  signal_position_ = polls_.add(setup_.signals.fd(), true, false);
  lifeline_position_ = setup_.lifeline < 0 ? 0 : polls_.add(setup_.lifeline, true, false);
  link_->add_to(polls_);
  subtree_->add_to(polls_);
  auto end = link_->next_deadline();
  const auto take = [&](std::optional<base::TimePoint> other) {
    if (other && (!end || *other < *end)) end = other;
  };
  take(subtree_->next_deadline());
  take(kill_at_);
  if (status_port_) {
    status_port_->add_to(polls_, now_);
    take(status_port_->next_deadline());
  }
  if (processes_) {
    processes_->add_to(polls_);
    connections_->add_to(polls_, now_);
    take(connections_->next_deadline(now_));
    local_->add_to(polls_);
    take(local_->next_deadline());
  }
  wait_beating(polls_, end);
  now_ = base::Clock::now();
}

void Follower::hear_parent() {
  if (!link_->is_open()) return;
  for (const ControlMessage& message : link_->receive(now_)) on_message(message);
  watch_parent();
}

void Follower::hear_children() {
  for (const ControlMessage& message : subtree_->handle(now_)) link_->send(message);
  tell_parent();
  if (subtree_->is_gathering() && now_ >= say_at_) say_who_is_absent();
}

void Follower::tell_parent() {
  if (const auto hello = subtree_->registry().take_hello(now_)) link_->send(*hello);
  const auto ready = prepared_ ? subtree_->registry().take_ready() : std::nullopt;
  if (ready) link_->send(*ready);
}

// Leaves output in the pipes of the ranks while the leader cannot take it, or while the link cannot
// send it immediately.
void Follower::regulate_output() {
  constexpr std::size_t kMostUnsent = std::size_t{1} << 20;
  Flow flow = flow_;
  flow.is_held = flow.is_held || link_->unsent_bytes() > kMostUnsent;
  if (flow == applied_flow_) return;
  applied_flow_ = flow;
  subtree_->send({.type = ControlMessageType::kFlow, .value = to_number(flow)});
  if (processes_ && prepared_->assignment.sends_output) processes_->output().on_flow(flow);
}

void Follower::say_who_is_absent() {
  say_at_ = now_ + kSayTime;
  if (subtree_->registry().is_complete()) return;
  speak("waiting at " + place_of(setup_.host_plan, setup_.host_plan.own_host) + " for " +
        subtree_->registry().absent_text() + subtree_->stranger_text() +
        absence_hint(setup_, subtree_->registry().absent()));
}

// Notices the end of the lifeline, which carries no data.
void Follower::hear_lifeline() {
  if (lifeline_position_ == 0 || exit_code_ || !polls_.readable(lifeline_position_)) return;
  if (!has_ended(setup_.lifeline)) return;
  setup_.lifeline = -1;
  if (!kill_at_) on_parent_lost("the agent with which it started this host ended");
}

void Follower::watch_parent() {
  using Verdict = LivenessWatch::Verdict;
  if (exit_code_ || kill_at_ || comes_again_) return;
  if (!link_->is_open()) return on_parent_lost(std::string(link_->why_ended()));
  const Verdict verdict = link_->judge(now_);
  if (verdict == Verdict::kVanished) on_parent_lost("its kernel no longer acknowledges anything");
  if (verdict == Verdict::kSilent) on_parent_lost("its launcher no longer sends anything");
}

// Ends this host's part of the job, or connects again if its ranks have not started and no other
// host started it: another rotarun may soon replace the lost parent.
void Follower::on_parent_lost(const std::string& why) {
  comes_again_ = !has_started_ && setup_.lifeline < 0;
  const bool was_said = comes_again_ && lost_at_ && now_ - *lost_at_ < kSayTime;
  const std::string loss = "lost " + parent() + ": " + why;
  if (!was_said) {
    speak(loss + (comes_again_ ? "; this host connects to it again" : ""));
    lost_at_ = now_;
  }
  if (comes_again_) return;
  note_cause(loss);
  *link_ = LauncherLink(nullptr, now_);
  if (!processes_) {
    exit_code_ = kExitSilent;
    subtree_->refuse({.type = ControlMessageType::kRefused,
                      .value = kExitSilent,
                      .text = own_name() + " " + loss},
                     now_);
    return;
  }
  processes_->output().carry_away({});
  processes_->output().on_flow({});
  // Only this host can tell the hosts below it that the job ends.
  subtree_->send({.type = ControlMessageType::kAskToEnd,
                  .value = SIGTERM,
                  .text = "rotarun: " + own_name() + " " + loss + "\n"});
  processes_->ask_to_end(SIGTERM);
  kill_at_ = now_ + setup_.options.grace.value_or(kFaultGrace);
}

void Follower::hear_signals() {
  if (!polls_.readable(signal_position_)) return;
  while (const auto signal = setup_.signals.next()) {
    if (signal->number == SIGCHLD) continue;
    if (setup_.signals.is_notice(signal->number)) {
      hear_notice(*signal);
    } else {
      hear_request(*signal);
    }
    if (!has_started_ && exit_code_) return;
  }
}

// Tells the leader about a signal for the ranks. The leader passes it on to the ranks of all hosts,
// those of this host included.
void Follower::hear_notice(const os::Signal& signal) {
  if (!has_started_) return speak(describe_dropped(signal.number));
  const bool is_direct = signal.sender != setup_.context.guard;
  if (echoes_.is_echo(signal.number, is_direct ? "direct" : "guard", now_)) return;
  tell({.kind = JobEvent::Kind::kSignal, .value = signal.number, .text = own_name()});
}

void Follower::hear_request(const os::Signal& signal) {
  // Before its ranks have started, a host may leave, and another rotarun may join as this host.
  if (!has_started_) {
    speak("got " + os::signal_name(signal.number) + " before the job began");
    exit_code_ = kExitSignalBase + signal.number;
    return;
  }
  const bool has_guard = os::parent_process() == setup_.context.guard;
  if (has_guard) {
    tell({.kind = JobEvent::Kind::kSignal, .value = signal.number, .text = own_name()});
  } else {
    tell({.kind = JobEvent::Kind::kHostLost,
          .rank = setup_.host_plan.own_host,
          .value = kExitSilent,
          .text = processes_->describe_guard_loss(own_name())});
  }
  const bool is_second = signal_at_ && now_ - *signal_at_ >= same_request_time(was_typed(signal));
  if (is_second && processes_) processes_->kill();
  if (!signal_at_) signal_at_ = now_;
  if (!has_guard && processes_) processes_->ask_to_end(SIGTERM);
}

// Passes a message for all hosts on to the hosts below, before this host acts on it. So the hosts
// below learn of the job's end from that message, and not from the end of this host.
void Follower::pass_down(const ControlMessage& message) {
  switch (message.type) {
    case ControlMessageType::kRefused:
      return subtree_->refuse(message, now_);
    case ControlMessageType::kFinish:
      subtree_->on_finish(message.value);
      return subtree_->send(message);
    case ControlMessageType::kStart:
    case ControlMessageType::kFence:
    case ControlMessageType::kAskToEnd:
    case ControlMessageType::kKill:
    case ControlMessageType::kSignal:
      return subtree_->send(message);
    case ControlMessageType::kFlow:
      flow_ = to_flow(message.value);
      return;
    default:
      return;
  }
}

void Follower::on_message(const ControlMessage& message) {
  pass_down(message);
  switch (message.type) {
    case ControlMessageType::kRefused:
      comes_again_ = message.value == kCallAgain && setup_.lifeline < 0;
      if (comes_again_) return;
      is_alone_ ? complain(message.text) : note_reason(message.text);
      exit_code_ = message.value;
      return;
    case ControlMessageType::kAssignment:
      return on_assignments(message);
    case ControlMessageType::kStart:
      if (const auto start_info = decode_start_info(message.text)) start(*start_info);
      return;
    case ControlMessageType::kFence:
      if (const auto result = decode_fence_result(message.text); result && processes_) {
        local_->end_fence(*result, now_);
      }
      return;
    case ControlMessageType::kLetter:
      return pass_letter(message);
    case ControlMessageType::kToRank:
      return pass_to_rank(message);
    case ControlMessageType::kAskToEnd:
      if (!processes_) return;
      note_cause(message.text);
      if (is_alone_) processes_->output().say(message.text);
      if (message.value == SIGINT || message.value == SIGCONT) {
        return processes_->ask_to_end(message.value);
      }
      return processes_->ask_to_end(SIGTERM);
    case ControlMessageType::kKill:
      if (processes_) processes_->kill();
      return;
    case ControlMessageType::kSignal:
      if (processes_) processes_->signal_ranks(message.value);
      return;
    case ControlMessageType::kFinish:
      exit_code_ = message.value;
      last_host_ = message.rank;
      return;
    default:
      return;
  }
}

// `message` has the assignments of this host and of all hosts below it.
void Follower::on_assignments(const ControlMessage& message) {
  const auto assignments = decode_host_texts(message.text);
  if (!assignments || !subtree_->is_gathering()) return;
  subtree_->assign(*assignments);
  const auto own = std::ranges::find(*assignments, setup_.host_plan.own_host, &HostText::host);
  auto assignment = own == assignments->end() ? std::nullopt : decode_assignment(own->text);
  if (assignment) prepare(std::move(*assignment));
}

int follow(HostSetup setup) { return Follower(std::move(setup)).run(); }

}  // namespace rota::launcher

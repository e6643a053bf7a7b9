// The part of a host that does not lead, until its ranks are prepared: the way into the job, and
// what it hears from above, from below and from itself.
#include "launcher/hosts/follower.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <variant>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/job/exit_policy.h"
#include "launcher/job/report.h"
#include "launcher/job/start.h"
#include "launcher/ranks/heartbeat.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

constexpr std::chrono::milliseconds kPauseBetweenWorlds{200};

}  // namespace

Follower::Follower(Part part)
    : part_(std::move(part)),
      is_alone_(part_.lifeline < 0),
      start_(base::Clock::now()),
      now_(start_) {
  if (!part_.options.status_address) return;
  status_port_.emplace(
      *part_.options.status_address, [this] { return status(); }, own_names(part_.meeting));
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
  household_ ? household_->say(line) : complain(line);
}

// The exit code where it is not let in.
std::optional<int> Follower::enter() {
  comes_again_ = false;
  auto outcome = approach(part_, start_, status_port_ ? &*status_port_ : nullptr);
  if (const int* code = std::get_if<int>(&outcome)) return *code;
  Arrival arrival = std::get<Arrival>(std::move(outcome));
  now_ = base::Clock::now();
  address_ = std::move(arrival.address);
  trunk_ = std::move(arrival.trunk);
  branch_ = std::make_unique<Branch>(part_.meeting,
                                     Branch::Access{.secret = secret_of(part_),
                                                    .incarnation = arrival.incarnation,
                                                    .listener = std::move(part_.listener)},
                                     part_.own, [this](const std::string& line) { speak(line); });
  say_at_ = now_ + kSayTime;
  tell_parent();
  return std::nullopt;
}

// Nothing has started. Those below call again as well. One that hangs up on whom it has let in is
// not called in haste.
void Follower::leave() {
  part_.listener = branch_->take_listener();
  lines_.reset();
  local_.reset();
  household_.reset();
  seating_.reset();
  branch_.reset();
  trunk_.reset();
  std::this_thread::sleep_for(kPauseBetweenWorlds);
}

void Follower::turn() {
  wait();
  if (status_port_) status_port_->handle(polls_, now_);
  const bool were_polled = household_ != nullptr;
  hear_parent();
  hear_children();
  hear_lifeline();
  hear_signals();
  if (were_polled) {
    household_->hear_starts(polls_);
    lines_->handle(polls_, now_);
    household_->hear_processes();
    household_->pass_on_output(polls_);
    local_->look(now_);
    lines_->send_all(now_);
  }
  regulate_output();
  watch_end();
}

void Follower::wait() {
  trunk_->send_all(now_);
  branch_->send_all(now_);
  polls_.clear();
  signal_position_ = polls_.add(part_.signals.fd(), true, false);
  lifeline_position_ = part_.lifeline < 0 ? 0 : polls_.add(part_.lifeline, true, false);
  trunk_->add_to(polls_);
  branch_->add_to(polls_);
  auto end = trunk_->next_deadline();
  const auto take = [&](std::optional<base::TimePoint> other) {
    if (other && (!end || *other < *end)) end = other;
  };
  take(branch_->next_deadline());
  take(kill_at_);
  if (status_port_) {
    status_port_->add_to(polls_, now_);
    take(status_port_->next_deadline());
  }
  if (household_) {
    household_->add_to(polls_);
    lines_->add_to(polls_, now_);
    take(lines_->next_deadline(now_));
    take(local_->next_look());
  }
  wait_beating(polls_, end);
  now_ = base::Clock::now();
}

void Follower::hear_parent() {
  if (!trunk_->is_open()) return;
  for (const Dispatch& dispatch : trunk_->receive(now_)) on_dispatch(dispatch);
  watch_parent();
}

void Follower::hear_children() {
  for (const Dispatch& dispatch : branch_->handle(now_)) trunk_->send(dispatch);
  tell_parent();
  if (branch_->is_gathering() && now_ >= say_at_) say_who_is_absent();
}

void Follower::tell_parent() {
  if (const auto hello = branch_->muster().take_hello(now_)) trunk_->send(*hello);
  const auto ready = seating_ ? branch_->muster().take_ready() : std::nullopt;
  if (ready) trunk_->send(*ready);
}

// What cannot be taken where it is shown, nor be sent at once, is left where it is written.
void Follower::regulate_output() {
  constexpr std::size_t kMostUnsent = std::size_t{1} << 20;
  Flow flow = flow_;
  flow.is_held = flow.is_held || trunk_->unsent_bytes() > kMostUnsent;
  if (flow == applied_flow_) return;
  applied_flow_ = flow;
  branch_->send({.type = DispatchType::kFlow, .value = to_number(flow)});
  if (household_ && seating_->share.sends_output) household_->output().on_flow(flow);
}

void Follower::say_who_is_absent() {
  say_at_ = now_ + kSayTime;
  if (branch_->muster().is_complete()) return;
  speak("waiting at " + place_of(part_.meeting, part_.meeting.own_host) + " for " +
        branch_->muster().absent_text() + branch_->stranger_text() +
        absence_hint(part_, branch_->muster().absent()));
}

// Nothing comes over it but its end.
void Follower::hear_lifeline() {
  if (lifeline_position_ == 0 || exit_code_ || !polls_.readable(lifeline_position_)) return;
  if (!has_ended(part_.lifeline)) return;
  part_.lifeline = -1;
  if (!kill_at_) on_parent_lost("the program by which it started this host ended");
}

void Follower::watch_parent() {
  using Verdict = SilenceWatch::Verdict;
  if (exit_code_ || kill_at_ || comes_again_) return;
  if (!trunk_->is_open()) return on_parent_lost(std::string(trunk_->why_ended()));
  const Verdict verdict = trunk_->judge(now_);
  if (verdict == Verdict::kVanished) on_parent_lost("its kernel acknowledges nothing any more");
  if (verdict == Verdict::kSilent) on_parent_lost("its launcher says nothing any more");
}

// Before the job has begun there may be another one soon in the place of the one that is gone.
void Follower::on_parent_lost(const std::string& why) {
  comes_again_ = !has_started_ && part_.lifeline < 0;
  const bool was_said = comes_again_ && lost_at_ && now_ - *lost_at_ < kSayTime;
  const std::string loss = "lost " + parent() + ": " + why;
  if (!was_said) {
    speak(loss + (comes_again_ ? "; calls it again" : ""));
    lost_at_ = now_;
  }
  if (comes_again_) return;
  note_cause(loss);
  *trunk_ = Trunk(nullptr, now_);
  if (!household_) {
    exit_code_ = kExitSilent;
    branch_->refuse(
        {.type = DispatchType::kRefused, .value = kExitSilent, .text = own_name() + " " + loss},
        now_);
    return;
  }
  household_->output().carry_away({});
  household_->output().on_flow({});
  // Those below have nobody else to hear it from.
  branch_->send({.type = DispatchType::kAskToEnd,
                 .value = SIGTERM,
                 .text = "rotarun: " + own_name() + " " + loss + "\n"});
  household_->ask_to_end(SIGTERM);
  kill_at_ = now_ + part_.options.grace.value_or(kFaultGrace);
}

void Follower::hear_signals() {
  if (!polls_.readable(signal_position_)) return;
  while (const auto signal = part_.signals.next()) {
    if (signal->number == SIGCHLD) continue;
    // Before its ranks have started a host may go, and another one come in its place.
    if (!has_started_) {
      speak("got " + os::signal_name(signal->number) + " before the job began");
      exit_code_ = kExitSignalBase + signal->number;
      return;
    }
    const bool has_guard = os::parent_process() == part_.context.guard;
    if (has_guard) {
      tell({.kind = News::Kind::kSignal, .value = signal->number, .text = own_name()});
    } else {
      tell({.kind = News::Kind::kHostLost,
            .rank = part_.meeting.own_host,
            .value = kExitSilent,
            .text = household_->describe_guard_loss(own_name())});
    }
    const bool is_second =
        signal_at_ && now_ - *signal_at_ >= same_request_time(was_typed(*signal));
    if (is_second && household_) household_->kill();
    if (!signal_at_) signal_at_ = now_;
    if (!has_guard && household_) household_->ask_to_end(SIGTERM);
  }
}

// What all are told goes to those below first: it is no news there that this host has ended.
void Follower::pass_down(const Dispatch& dispatch) {
  switch (dispatch.type) {
    case DispatchType::kRefused:
      return branch_->refuse(dispatch, now_);
    case DispatchType::kFinish:
      branch_->on_finish(dispatch.value);
      return branch_->send(dispatch);
    case DispatchType::kStart:
    case DispatchType::kAskToEnd:
    case DispatchType::kKill:
      return branch_->send(dispatch);
    case DispatchType::kFlow:
      flow_ = to_flow(dispatch.value);
      return;
    default:
      return;
  }
}

void Follower::on_dispatch(const Dispatch& dispatch) {
  pass_down(dispatch);
  switch (dispatch.type) {
    case DispatchType::kRefused:
      comes_again_ = dispatch.value == kCallAgain && part_.lifeline < 0;
      if (comes_again_) return;
      is_alone_ ? complain(dispatch.text) : note_reason(dispatch.text);
      exit_code_ = dispatch.value;
      return;
    case DispatchType::kShare:
      return on_shares(dispatch);
    case DispatchType::kStart:
      if (const auto beginning = decode_beginning(dispatch.text)) start(*beginning);
      return;
    case DispatchType::kToRank:
      return pass_to_rank(dispatch);
    case DispatchType::kAskToEnd:
      if (!household_) return;
      note_cause(dispatch.text);
      if (is_alone_) household_->output().say(dispatch.text);
      if (dispatch.value == SIGINT || dispatch.value == SIGCONT) {
        return household_->ask_to_end(dispatch.value);
      }
      return household_->ask_to_end(SIGTERM);
    case DispatchType::kKill:
      if (household_) household_->kill();
      return;
    case DispatchType::kFinish:
      exit_code_ = dispatch.value;
      last_host_ = dispatch.rank;
      return;
    default:
      return;
  }
}

// Those of this host and of all below it.
void Follower::on_shares(const Dispatch& dispatch) {
  const auto shares = decode_host_texts(dispatch.text);
  if (!shares || !branch_->is_gathering()) return;
  branch_->assign(*shares);
  const auto own = std::ranges::find(*shares, part_.meeting.own_host, &HostText::host);
  auto share = own == shares->end() ? std::nullopt : decode_share(own->text);
  if (share) prepare(std::move(*share));
}

int follow(Part part) { return Follower(std::move(part)).run(); }

}  // namespace rota::launcher

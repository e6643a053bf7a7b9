// Decides when a job is over, why, and with which exit code. When one rank fails, the others are
// ended, and the exit code reports the failure that came first.
#include "launcher/job/exit_policy.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "launcher/command/exit_codes.h"

namespace rota::launcher {
namespace {

using rendezvous::MessageType;

// How long ranks may take to end after the guard, rotarun's outer process, was killed.
constexpr auto kShortGrace = std::chrono::milliseconds(500);

// How much longer than its deadline a rank must stay stopped.
constexpr auto kOverdueTime = std::chrono::milliseconds(200);

// How long a reader of rotarun's output that does not read may delay the end of a job, once
// somebody has asked for this end or the job's time is over.
constexpr auto kLastOutputTime = std::chrono::milliseconds(500);

}  // namespace

void ExitPolicy::on_exit(std::size_t rank, const Ending& ending) {
  ROTA_ASSERT(rank < records_.size() && !records_[rank].ending);
  records_[rank].ending = ending;
  records_[rank].stopped_since.reset();
  ++ended_count_;
  if (ending.is_success()) return;
  // A rank that MPI has ended says nothing new by its exit code.
  const bool is_expected = records_[rank].report && records_[rank].report->code;
  const Weight of_exit = is_expected ? Weight::kEcho : Weight::kFailure;
  note_failure(rank, ending.was_killed ? Weight::kDeath : of_exit);
}

// Records an evaluator. It may start late, after the others have been asked to end. Then it must be
// asked, too.
void ExitPolicy::on_evaluator_start(std::size_t index) {
  evaluators_.insert(index);
  has_released_ = false;
}

void ExitPolicy::on_evaluator_end(std::size_t index, const Ending& ending, base::TimePoint now) {
  if (evaluators_.erase(index) == 0) return;
  const bool is_cause = phase_ == Phase::kRunning && !first_failure_ && !asked_to_end_ &&
                        outcome_.reason == Outcome::Reason::kSuccess && !all_ended();
  if (ending.is_success() || !is_cause) return;
  Outcome outcome{.reason = Outcome::Reason::kEvaluator};
  outcome.code = ending.was_killed ? kExitSignalBase + ending.value : ending.value;
  outcome.evaluator = index;
  outcome.ending = ending;
  end_with(std::move(outcome), now);
}

void ExitPolicy::on_stopped(std::size_t rank, base::TimePoint now) {
  records_[rank].stopped_since = now;
  records_[rank].overdue_since.reset();
}

void ExitPolicy::on_continued(std::size_t rank) { records_[rank].stopped_since.reset(); }

void ExitPolicy::on_message(std::size_t rank, const rendezvous::Message& message,
                            base::TimePoint now) {
  RankRecord& record = records_[rank];
  switch (message.type) {
    case MessageType::kWaiting:
      record.waiting_for = message.blamed.value();
      break;
    case MessageType::kResumed:
      // Once the job has failed, a wait may end only because of the failure. So the record keeps
      // the rank that this rank waited for.
      if (!first_failure_) record.waiting_for.reset();
      break;
    case MessageType::kLeave:
      record.has_left = true;
      break;
    case MessageType::kAbort: {
      if (record.report) break;
      const ErrorCode error = message.error.value_or(ErrorCode::kSystem);
      // A rank that aborts for its own reason blames no rank.
      const bool repeats = error == ErrorCode::kAborted && message.blamed;
      const bool is_echo = repeats && first_failure_.has_value();
      record.report = Report{error, message.blamed, message.text, is_echo, now};
      note_failure(rank, repeats ? Weight::kEcho : Weight::kFailure);
      break;
    }
    default:
      break;
  }
}

void ExitPolicy::on_mpi_abort(std::size_t rank, int code, const std::string& text,
                              base::TimePoint now) {
  RankRecord& record = records_[rank];
  if (record.report) return;
  record.report = Report{.text = text, .at = now, .code = code};
  note_failure(rank, Weight::kEcho);
}

void ExitPolicy::on_fault(Fault fault, base::TimePoint now) {
  if (!is_running() || first_failure_ || outcome_.reason != Outcome::Reason::kSuccess) return;
  Outcome outcome{.reason = Outcome::Reason::kFault, .code = code_of(fault)};
  outcome.fault = std::move(fault);
  end_with(std::move(outcome), now);
}

void ExitPolicy::on_not_started(const std::string& text, int code) {
  if (phase_ >= Phase::kEnding || outcome_.reason == Outcome::Reason::kNotStarted) return;
  outcome_.reason = Outcome::Reason::kNotStarted;
  outcome_.code = code;
  outcome_.text = text;
}

void ExitPolicy::on_signal(int number, base::TimePoint now, const std::string& who,
                           bool was_typed) {
  if (phase_ == Phase::kOver) {
    if (outcome_.reason == Outcome::Reason::kSuccess) set_signal(number, who);
    return end_output(now + kLastOutputTime);
  }
  if (is_second(who, now, was_typed)) is_kill_due_ = true;
  if (asked_to_end_) return;
  asked_to_end_ = now;
  const bool is_cause = phase_ == Phase::kRunning || phase_ == Phase::kReleasing;
  if (is_cause && !first_failure_) set_signal(number, who);
}

// Returns whether this is a second request to end. One person may send the same request to several
// hosts, one after the other: these count as one request. But if a failure has been ending the job
// for a while, even the first request counts as a second one: its sender has seen the failure.
bool ExitPolicy::is_second(const std::string& who, base::TimePoint now, bool was_typed) {
  const bool is_first_of_all = requests_.empty();
  const auto [first, is_new] = requests_.try_emplace(who, now);
  if (!is_new) return now - first->second >= same_request_time(was_typed);
  return is_first_of_all && asked_to_end_ && now - *asked_to_end_ >= kSameRequestTime;
}

void ExitPolicy::set_signal(int number, const std::string& who) {
  outcome_.reason = Outcome::Reason::kSignal;
  outcome_.code = kExitSignalBase + number;
  outcome_.signal = number;
  outcome_.text = who;
}

// Records a lost host. If the death of a rank is known already, the rank died before the host was
// lost, so that death stays the cause. Reports of survivors are consequences of the lost host.
void ExitPolicy::on_host_lost(std::span<const std::size_t> ranks, const std::string& text, int code,
                              base::TimePoint now) {
  for (const std::size_t rank : ranks) {
    if (records_[rank].ending) continue;
    records_[rank].ending = Ending{.was_killed = true, .value = SIGKILL, .at = now};
    records_[rank].stopped_since.reset();
    ++ended_count_;
  }
  end_unless_known({.reason = Outcome::Reason::kHostLost, .code = code, .text = text}, now);
}

void ExitPolicy::on_mpi_failure(const std::string& text, int code, base::TimePoint now) {
  end_unless_known({.reason = Outcome::Reason::kMpi, .code = code, .text = text}, now);
}

// Ends the job with a cause that explains the failures of ranks, unless a death of a rank is known:
// such a death has come first.
void ExitPolicy::end_unless_known(Outcome outcome, base::TimePoint now) {
  const bool is_other_cause = first_failure_ && first_weight_ == Weight::kDeath;
  if (phase_ >= Phase::kEnding || is_other_cause || outcome_.reason != Outcome::Reason::kSuccess) {
    return;
  }
  end_with(std::move(outcome), now);
}

void ExitPolicy::end_output(base::TimePoint end) {
  output_end_ = output_end_ ? std::min(*output_end_, end) : end;
}

bool ExitPolicy::waits_for_reader(base::TimePoint now) {
  const base::TimePoint soon = now + kLastOutputTime;
  const bool is_wanted_over =
      outcome_.reason == Outcome::Reason::kSignal || outcome_.reason == Outcome::Reason::kTimeout;
  if (is_wanted_over) end_output(soon);
  if (!output_end_ && limits_.timeout) output_end_ = std::max(*limits_.timeout, soon);
  next_deadline_ = output_end_;
  if (!output_end_ || now < *output_end_) return true;
  if (outcome_.reason == Outcome::Reason::kSuccess) {
    outcome_.reason = Outcome::Reason::kTimeout;
    outcome_.code = kExitTimeout;
  }
  return false;
}

void ExitPolicy::on_guard_lost(base::TimePoint now) {
  may_agree_ = false;
  limits_.fault_grace = std::min<base::Duration>(limits_.fault_grace, kShortGrace);
  limits_.request_grace = std::min<base::Duration>(limits_.request_grace, kShortGrace);
  if (phase_ != Phase::kEnding && phase_ != Phase::kReleasing) return;
  give_up_at_ = std::min(give_up_at_, now + limits_.fault_grace);
}

// Records a failure. The first failure counts, with two exceptions. If several failures become
// known together, a death among them counts. Any failure replaces an echo.
void ExitPolicy::note_failure(std::size_t rank, Weight weight) {
  const bool is_settled =
      phase_ > Phase::kSettling || (phase_ == Phase::kSettling && first_weight_ != Weight::kEcho);
  if (first_failure_ && (weight <= first_weight_ || is_settled)) return;
  first_failure_ = rank;
  first_weight_ = weight;
}

bool ExitPolicy::is_over(bool has_children) const noexcept {
  if (!all_ended()) return false;
  if (!evaluators_.empty() && phase_ < Phase::kEnding) return false;
  if (has_agreed_ && !evaluators_.empty() && phase_ == Phase::kEnding) return false;
  return phase_ == Phase::kRunning || phase_ == Phase::kReleasing || phase_ == Phase::kKilling ||
         (phase_ == Phase::kEnding && (!has_children || has_agreed_));
}

// Returns whether only evaluators still run, and one of them has not been asked to end.
bool ExitPolicy::is_release_due() const noexcept {
  const bool may_ask = phase_ == Phase::kRunning || phase_ == Phase::kReleasing ||
                       (phase_ == Phase::kEnding && has_agreed_);
  return may_ask && all_ended() && !evaluators_.empty() && !has_released_;
}

bool ExitPolicy::asks_for_agreed_stop() const noexcept {
  return outcome_.reason == Outcome::Reason::kSignal &&
         (outcome_.signal == SIGTERM || outcome_.signal == limits_.stop_signal);
}

ExitPolicy::Action ExitPolicy::decide(base::TimePoint now, bool has_children, bool can_agree) {
  next_deadline_.reset();
  if (phase_ == Phase::kRunning || phase_ == Phase::kReleasing) {
    if (outcome_.reason != Outcome::Reason::kSuccess) {
      end_with(Outcome(outcome_), now);
    } else if (first_failure_) {
      phase_ = Phase::kSettling;
    } else if (!all_ended()) {
      watch_limits(now);
    }
  }
  if (phase_ == Phase::kSettling) find_cause(now);
  if (phase_ == Phase::kConcluding) conclude(now);
  if (std::exchange(is_end_due_, false)) {
    wake_at(give_up_at_);
    has_agreed_ = asks_for_agreed_stop() && may_agree_ && can_agree;
    return has_agreed_ ? Action::kAgree : Action::kTerminate;
  }
  if (is_release_due()) {
    has_released_ = true;
    if (phase_ == Phase::kRunning) {
      phase_ = Phase::kReleasing;
      give_up_at_ = now + limits_.request_grace;
    }
    wake_at(give_up_at_);
    return Action::kRelease;
  }
  if (is_over(has_children)) {
    const bool is_news = std::exchange(phase_, Phase::kOver) != Phase::kOver;
    return is_news ? Action::kFinish : Action::kNone;
  }
  const bool is_releasing = phase_ == Phase::kReleasing;
  if (phase_ < Phase::kEnding && !is_releasing) return Action::kNone;
  const bool is_rest = phase_ == Phase::kEnding && all_ended() && evaluators_.empty();
  if (is_rest) {  // Processes that ranks left behind have nothing to save.
    give_up_at_ = std::min(give_up_at_, now + limits_.fault_grace);
  }
  const bool is_too_late = now >= give_up_at_;
  if ((phase_ == Phase::kEnding || is_releasing) && (is_too_late || is_kill_due_)) {
    phase_ = Phase::kKilling;
    give_up_at_ = now + kReapTime;
    wake_at(give_up_at_);
    return Action::kKill;
  }
  if (phase_ == Phase::kKilling && is_too_late) {
    phase_ = Phase::kOver;
    return Action::kFinish;
  }
  if (phase_ != Phase::kOver) wake_at(give_up_at_);
  return Action::kNone;
}

void ExitPolicy::find_cause(base::TimePoint now) {
  Fault fault = find_fault(records_, *first_failure_);
  if (fault.uncertain_until && now < *fault.uncertain_until && !all_ended()) {
    return wake_at(*fault.uncertain_until);
  }
  outcome_.reason = Outcome::Reason::kFault;
  outcome_.fault = std::move(fault);
  phase_ = Phase::kConcluding;
  give_up_at_ = now + limits_.fault_grace;
}

// Waits for the exit code of a rank that has reported that it cannot go on. This rank is about to
// exit, and only the rank knows the code.
void ExitPolicy::conclude(base::TimePoint now) {
  const Fault& fault = outcome_.fault;
  const RankRecord& record = records_[fault.rank];
  const bool exits_soon =
      fault.kind == Fault::Kind::kReported && !record.ending && !record.report->code;
  if (exits_soon && now < give_up_at_ && !asked_to_end_) return wake_at(give_up_at_);
  Outcome outcome = outcome_;
  outcome.code = code_of(outcome.fault);
  end_with(std::move(outcome), now);
}

// A rank must be stopped for kOverdueTime beyond its deadline. If rotarun was suspended together
// with its ranks, as by Ctrl-Z, the deadline has passed when all go on. Then rotarun may look
// before it hears that the ranks go on.
void ExitPolicy::watch_stopped(base::TimePoint now) {
  for (std::size_t rank = 0; rank < records_.size(); ++rank) {
    RankRecord& record = records_[rank];
    if (!record.stopped_since) continue;
    const base::TimePoint deadline = *record.stopped_since + limits_.deadline;
    if (now >= deadline && !record.overdue_since) record.overdue_since = now;
    const base::TimePoint end =
        record.overdue_since ? *record.overdue_since + kOverdueTime : deadline;
    if (now < end) {
      wake_at(end);
      continue;
    }
    Outcome outcome{.reason = Outcome::Reason::kFault, .code = kExitSilent};
    outcome.fault.kind = Fault::Kind::kStopped;
    outcome.fault.rank = rank;
    return end_with(std::move(outcome), now);
  }
}

void ExitPolicy::watch_limits(base::TimePoint now) {
  watch_stopped(now);
  if (phase_ != Phase::kRunning || !limits_.timeout) return;
  if (now < *limits_.timeout) return wake_at(*limits_.timeout);
  Outcome outcome{.reason = Outcome::Reason::kTimeout, .code = kExitTimeout};
  for (std::size_t rank = 0; rank < records_.size(); ++rank) {
    if (!records_[rank].ending) outcome.running.push_back(rank);
  }
  end_with(std::move(outcome), now);
}

void ExitPolicy::end_with(Outcome outcome, base::TimePoint now) {
  outcome_ = std::move(outcome);
  phase_ = Phase::kEnding;
  is_end_due_ = true;
  if (!asked_to_end_) asked_to_end_ = now;
  const bool is_asked = outcome_.reason == Outcome::Reason::kSignal;
  give_up_at_ = now + (is_asked ? limits_.request_grace : limits_.fault_grace);
}

void ExitPolicy::wake_at(base::TimePoint time) {
  next_deadline_ = next_deadline_ ? std::min(*next_deadline_, time) : time;
}

int ExitPolicy::code_of(const Fault& fault) const {
  const auto& ending = records_[fault.rank].ending;
  const auto& report = records_[fault.rank].report;
  switch (fault.kind) {
    case Fault::Kind::kStopped:
    case Fault::Kind::kSilent:
      return kExitSilent;
    case Fault::Kind::kLeft:
      return kExitLeftEarly;
    case Fault::Kind::kDied:
    case Fault::Kind::kReported:
      break;
  }
  const bool is_aborted = fault.kind == Fault::Kind::kReported && report && report->code;
  if (is_aborted) return *report->code == 0 ? kExitFailed : *report->code;
  if (!ending || ending->is_success()) return kExitFailed;
  return ending->was_killed ? kExitSignalBase + ending->value : ending->value;
}

}  // namespace rota::launcher

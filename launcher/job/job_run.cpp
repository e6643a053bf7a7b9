// A job from its first process to its last.
#include "launcher/job/job_run.h"

#include <utility>

#include "launcher/command/exit_codes.h"
#include "launcher/job/guard.h"
#include "launcher/job/preflight_job.h"
#include "launcher/job/when_done.h"
#include "launcher/ranks/heartbeat.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

using Action = ExitPolicy::Action;

// How long other hosts may take to hear that the job is over.
constexpr auto kFarewellTime = std::chrono::milliseconds(250);

}  // namespace

JobRun::JobRun(const Options& options, const JobPlan& plan, Prepared prepared,
               const RunContext& context, os::SignalWatch& signals, OtherHosts* others)
    : options_(options),
      context_(context),
      signals_(signals),
      others_(others),
      start_(base::Clock::now()),
      now_(start_),
      status_port_(std::exchange(prepared.status_port, std::nullopt)),
      household_(options, context.guard, [this](const News& news) { world_.hear(news, now_); }),
      world_({options, context, signals, household_, others, start_}, plan, std::move(prepared)) {
  if (options.status_address) serve_status(plan);
}

int JobRun::run() {
  world_.start();
  for (;;) {
    const Action action = policy().decide(now_, has_processes(), world_.can_stop());
    if (action == Action::kFinish) return finish();
    if (action == Action::kTerminate) terminate();
    if (action == Action::kAgree) stop_by_agreement();
    if (action == Action::kRelease) release();
    if (action == Action::kKill) kill();
    turn();
  }
}

void JobRun::turn() {
  world_.send_all(now_);
  if (others_) {
    if (!world_.share().guests.empty()) others_->set_flow(household_.output().flow());
    others_->send_all(now_);
  }
  wait();
  hear_signals();
  household_.hear_starts(polls_);
  world_.handle(polls_, now_);
  if (others_) {
    for (const News& news : others_->handle(polls_, now_)) world_.hear(news, now_);
  }
  household_.hear_processes();
  household_.pass_on_output(polls_);
  if (status_port_) status_port_->handle(polls_, now_);
  world_.on_time(now_);
}

void JobRun::wait() {
  polls_.clear();
  signal_position_ = polls_.add(signals_.fd(), true, false);
  household_.add_to(polls_);
  world_.add_to(polls_, now_);
  if (status_port_) status_port_->add_to(polls_, now_);
  auto end = world_.next_deadline(now_);
  if (others_) {
    others_->add_to(polls_);
    end = base::earlier(end, others_->next_deadline());
  }
  if (status_port_) end = base::earlier(end, status_port_->next_deadline());
  wait_beating(polls_, end);
  now_ = base::Clock::now();
}

bool JobRun::has_processes() const {
  return household_.has_children() || (others_ && !others_->have_ended());
}

void JobRun::hear_signals() {
  if (!polls_.readable(signal_position_)) return;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    if (os::parent_process() != context_.guard) {
      on_guard_lost();
      continue;
    }
    policy().on_signal(signal->number, now_, {}, was_typed(*signal));
    ranks_have_signal_ = ranks_have_signal_ || signal->from_terminal;
  }
}

// Nobody has asked for the end: whoever started this host may start it again.
void JobRun::on_guard_lost() {
  policy().on_guard_lost(now_);
  policy().on_host_lost({}, household_.describe_guard_loss(os::host_name()), kExitSilent, now_);
}

// For whoever has typed the signal, and may not want to wait for --grace.
std::string JobRun::hint_for_a_person() const {
  return ranks_have_signal_ ? "rotarun: once more kills the ranks\n" : "";
}

// Says why the job ends, and asks everybody to end.
void JobRun::terminate() {
  const Outcome& outcome = policy().outcome();
  std::string text = "rotarun: " + world_.why_it_ends() + "\n" + world_.words_of_cause();
  note_cause(text);
  if (options_.preflight && is_verdict(outcome.code)) text.clear();  // It was said at length.
  const bool is_asked = outcome.reason == Outcome::Reason::kSignal;
  household_.output().say(text + (is_asked ? hint_for_a_person() : ""));
  const bool is_interrupt = outcome.reason == Outcome::Reason::kSignal && outcome.signal == SIGINT;
  const int signal = is_interrupt ? SIGINT : SIGTERM;
  if (others_) others_->ask_to_end(signal, text);
  household_.ask_to_end(is_interrupt && ranks_have_signal_ ? SIGCONT : signal);
}

// Those who are suspended could not answer.
void JobRun::stop_by_agreement() {
  const std::string text =
      "rotarun: " + world_.why_it_ends() + " after a step that the ranks agree on\n";
  note_cause(text);
  household_.output().say(text + hint_for_a_person());
  if (others_) others_->ask_to_end(SIGCONT, text);
  household_.ask_to_end(SIGCONT);
  world_.stop();
}

// Evaluators, which are all that is left, may finish what they are at.
void JobRun::release() {
  if (options_.verbose) household_.say("all ranks have ended, so the evaluators are asked to end");
  if (others_) others_->ask_to_end(SIGTERM, "");
  household_.ask_to_end(SIGTERM);
}

void JobRun::kill() {
  const std::string names = world_.who_runs();
  if (!names.empty()) household_.say("killed what had not ended: " + names);
  if (others_) others_->kill();
  household_.kill();
}

int JobRun::finish() {
  if (!household_.finish(kReapTime)) household_.say("some processes of the job could not be ended");
  // First, for nobody tells them anything while our reader is waited for.
  if (others_) tell_others_the_end();
  write_rest();
  if (household_.output().tell_losses()) write_rest();
  note_cause(world_.why_it_ends());  // Where it became known only now.
  const int code = policy().outcome().code;
  is_done_ = code == 0;
  if (is_done_ && options_.when_done == WhenDone::kWait) {
    stay_when_done(signals_, status_port_ ? &*status_port_ : nullptr, others_);
  }
  return code;
}

void JobRun::write_rest() {
  while (household_.output().has_pending() && policy().waits_for_reader(now_)) {
    polls_.clear();
    signal_position_ = polls_.add(signals_.fd(), true, false);
    household_.add_to(polls_);
    if (status_port_) status_port_->add_to(polls_, now_);
    wait_beating(polls_, policy().next_deadline());
    now_ = base::Clock::now();
    hear_signals();
    household_.pass_on_output(polls_);
    if (status_port_) status_port_->handle(polls_, now_);
  }
}

// All are to exit with the same code, and at about the same time.
void JobRun::tell_others_the_end() {
  const Outcome& outcome = policy().outcome();
  std::optional<std::size_t> last_rank;
  if (outcome.reason == Outcome::Reason::kFault) last_rank = outcome.fault.rank;
  others_->finish(outcome.code, last_rank);
  const base::TimePoint end = base::Clock::now() + kFarewellTime;
  while (!others_->are_gone() && now_ < end) {
    others_->send_all(now_);
    polls_.clear();
    others_->add_to(polls_);
    wait_beating(polls_, base::earlier(end, others_->next_deadline()));
    now_ = base::Clock::now();
    for (const News& news : others_->handle(polls_, now_)) {
      const bool is_output =
          news.kind == News::Kind::kRankWrote || news.kind == News::Kind::kEvaluatorWrote;
      if (is_output) household_.show(news);
    }
  }
  household_.output().drain();  // What has no line's end.
}

void JobRun::serve_status(const JobPlan& plan) {
  if (status_port_) return status_port_->ask([this] { return status(); });
  std::vector<std::string> names;
  if (const auto& ranks = plan.share.ranks; !ranks.empty()) {
    names.push_back(plan.job.table.rows[ranks.front()].host);
  }
  status_port_.emplace(
      *options_.status_address, [this] { return status(); }, std::move(names));
  const bool is_known = status_port_->address() == *options_.status_address;
  if (options_.verbose || !is_known) household_.say("status at http://" + status_port_->address());
}

JobStatus JobRun::status() const {
  JobStatus status = world_.status();
  status.is_done = is_done_;
  return status;
}

}  // namespace rota::launcher

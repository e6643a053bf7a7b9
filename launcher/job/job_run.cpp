// The loop of a job handles events of processes, output, signals and other hosts, and carries out
// the decisions of the exit policy. At the end, it tells all hosts the exit code.
#include "launcher/job/job_run.h"

#include <utility>

#include "launcher/command/exit_codes.h"
#include "launcher/job/guard.h"
#include "launcher/job/preflight_job.h"
#include "launcher/job/start.h"
#include "launcher/job/when_done.h"
#include "launcher/ranks/heartbeat.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

using Action = ExitPolicy::Action;

// How long other hosts may take to receive the end of the job.
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
      processes_(options, context.guard,
                 [this](const JobEvent& event) { world_.hear(event, now_); }),
      world_({options, context, signals, processes_, others, start_}, plan, std::move(prepared)) {
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
    if (!world_.assignment().remote_members.empty()) others_->set_flow(processes_.output().flow());
    others_->send_all(now_);
  }
  wait();
  hear_signals();
  processes_.hear_starts(polls_);
  world_.handle(polls_, now_);
  if (others_) {
    for (const JobEvent& event : others_->handle(polls_, now_)) world_.hear(event, now_);
  }
  processes_.hear_processes();
  processes_.pass_on_output(polls_);
  if (status_port_) status_port_->handle(polls_, now_);
  world_.on_time(now_);
}

void JobRun::wait() {
  polls_.clear();
  signal_position_ = polls_.add(signals_.fd(), true, false);
  processes_.add_to(polls_);
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
  return processes_.has_children() || (others_ && !others_->have_ended());
}

void JobRun::hear_signals() {
  if (!polls_.readable(signal_position_)) return;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    if (os::parent_process() != context_.guard) {
      on_guard_lost();
      continue;
    }
    if (signals_.is_notice(signal->number)) {
      const bool is_direct = signal->sender != context_.guard;
      world_.signal_ranks(signal->number, is_direct ? "direct" : "guard", now_);
      continue;
    }
    policy().on_signal(signal->number, now_, {}, was_typed(*signal));
    ranks_have_signal_ = ranks_have_signal_ || signal->from_terminal;
  }
}

// Handles the loss of the guard, which is not a request to end. It counts as the loss of this host,
// because the program that started rotarun here may start it again.
void JobRun::on_guard_lost() {
  policy().on_guard_lost(now_);
  policy().on_host_lost({}, processes_.describe_guard_loss(os::host_name()), kExitSilent, now_);
}

// Returns a hint for a person who has typed the signal, and perhaps does not want to wait for
// --grace.
std::string JobRun::hint_for_a_person() const {
  return ranks_have_signal_ ? "rotarun: another signal kills the ranks\n" : "";
}

// Says why the job ends, and asks all ranks, evaluators and hosts to end.
void JobRun::terminate() {
  const Outcome& outcome = policy().outcome();
  std::string text = "rotarun: " + world_.why_it_ends() + "\n" + world_.words_of_cause();
  note_cause(text);
  if (options_.preflight && is_verdict(outcome.code)) text.clear();  // The report has the reason.
  const bool is_asked = outcome.reason == Outcome::Reason::kSignal;
  processes_.output().say(text + (is_asked ? hint_for_a_person() : ""));
  const bool is_interrupt = outcome.reason == Outcome::Reason::kSignal && outcome.signal == SIGINT;
  const int signal = is_interrupt ? SIGINT : SIGTERM;
  if (others_) others_->ask_to_end(signal, text);
  processes_.ask_to_end(is_interrupt && ranks_have_signal_ ? SIGCONT : signal);
}

// Makes the ranks agree on a last step. Suspended ranks could not answer, so SIGCONT wakes them.
void JobRun::stop_by_agreement() {
  const std::string text =
      "rotarun: " + world_.why_it_ends() + " after a step that the ranks agree on\n";
  note_cause(text);
  processes_.output().say(text + hint_for_a_person());
  if (others_) others_->ask_to_end(SIGCONT, text);
  processes_.ask_to_end(SIGCONT);
  world_.stop();
}

// Asks the evaluators, the only members left, to end. They may finish their current work.
void JobRun::release() {
  if (options_.verbose)
    processes_.say("all ranks have ended, so rotarun asks the evaluators to end");
  if (others_) others_->ask_to_end(SIGTERM, "");
  processes_.ask_to_end(SIGTERM);
}

void JobRun::kill() {
  has_killed_ = true;
  const std::string names = world_.who_runs();
  if (!names.empty()) processes_.say("killed the processes that had not ended: " + names);
  if (others_) others_->kill();
  processes_.kill();
}

int JobRun::finish() {
  // After a failure, a request or a kill, nobody expects that a process goes on.
  if (policy().outcome().code == 0 && !has_killed_) processes_.tell_outlived();
  const auto show_life = [this] {
    if (others_) others_->send_all(base::Clock::now());
  };
  if (!processes_.finish(kReapTime, show_life)) {
    processes_.say("some processes of the job could not be ended");
  }
  // The other hosts come first: they receive nothing while rotarun waits for the reader of its
  // output.
  if (others_) tell_others_the_end();
  const bool was_success = policy().outcome().code == 0;
  write_rest();
  if (processes_.output().tell_losses()) write_rest();
  note_cause(world_.why_it_ends());  // The cause may have become known only now.
  const int code = policy().outcome().code;
  if (was_success && code != 0) {  // Said directly, because the output waits for its reader.
    const bool has_rest = processes_.output().has_pending();
    complain(world_.why_it_ends() +
             (has_rest ? ", but nobody has read the rest of the ranks' output: it is lost" : ""));
  }
  is_done_ = code == 0;
  if (is_done_ && options_.when_done == WhenDone::kWait) {
    stay_when_done(signals_, status_port_ ? &*status_port_ : nullptr, others_);
  }
  return code;
}

void JobRun::write_rest() {
  while (processes_.output().has_pending() && policy().waits_for_reader(now_)) {
    polls_.clear();
    signal_position_ = polls_.add(signals_.fd(), true, false);
    processes_.add_to(polls_);
    if (status_port_) status_port_->add_to(polls_, now_);
    wait_beating(polls_, policy().next_deadline());
    now_ = base::Clock::now();
    hear_signals();
    processes_.pass_on_output(polls_);
    if (status_port_) status_port_->handle(polls_, now_);
  }
}

// Tells the other hosts the exit code, so that all hosts exit with it, at about the same time.
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
    for (const JobEvent& event : others_->handle(polls_, now_)) {
      const bool is_output =
          event.kind == JobEvent::Kind::kRankWrote || event.kind == JobEvent::Kind::kEvaluatorWrote;
      if (is_output) processes_.show(event);
    }
  }
  processes_.output().drain();  // Takes last lines without a line end, too.
}

void JobRun::serve_status(const JobPlan& plan) {
  if (status_port_) return status_port_->ask([this] { return status(); });
  std::vector<std::string> names;
  if (const auto& ranks = plan.assignment.ranks; !ranks.empty()) {
    names.push_back(plan.job.table.rows[ranks.front()].host);
  }
  status_port_.emplace(
      listen_for_status(*options_.status_address, signals_), [this] { return status(); },
      std::move(names));
  const bool is_known = status_port_->address() == *options_.status_address;
  if (options_.verbose || !is_known) processes_.say("status at http://" + status_port_->address());
}

JobStatus JobRun::status() const {
  JobStatus status = world_.status();
  status.is_done = is_done_;
  return status;
}

}  // namespace rota::launcher

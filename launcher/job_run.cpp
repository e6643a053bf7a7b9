// A job from its first process to its last.
#include "launcher/job_run.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "launcher/rank_environment.h"
#include "os/host.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

using Action = ExitPolicy::Action;
using Kind = os::ProcessEvent::Kind;

constexpr int kStdin = 0;
constexpr int kStdout = 1;

// How long killed processes may take to vanish.
constexpr auto kReapTime = std::chrono::seconds(5);

ExitPolicy::Limits limits_of(const Options& options, base::TimePoint start) {
  ExitPolicy::Limits limits{options.deadline, options.grace, std::nullopt};
  if (options.timeout) limits.timeout = start + *options.timeout;
  return limits;
}

int code_of(const Ending& ending) {
  return ending.was_killed ? kExitSignalBase + ending.value : ending.value;
}

}  // namespace

JobRun::JobRun(const Options& options, const JobPlan& plan, RunContext context,
               os::SignalWatch& signals)
    : options_(options),
      plan_(plan),
      context_(std::move(context)),
      signals_(signals),
      output_(plan.places.size(), options.tag_output, options.output_directory),
      mailroom_(plan, [this](std::size_t rank, const auto& message) { on_message(rank, message); }),
      switchboard_(mailroom_.switchboard()),
      null_(os::open_null()),
      start_(base::Clock::now()),
      policy_(plan.places.size(), limits_of(options, start_)),
      ranks_(plan.places.size()),
      names_(plan.places.size()),
      now_(start_) {
  for (const std::string& reason : plan.why) say_if_verbose(reason);
  if (!options.status_address) return;
  status_port_.emplace(*options.status_address, [this] { return status(); });
  const bool is_known = status_port_->address() == *options.status_address;
  if (options.verbose || !is_known) say("status at http://" + status_port_->address());
}

int JobRun::run() {
  start_ranks();
  for (;;) {
    const Action action = policy_.decide(now_, has_children_);
    if (action == Action::kFinish) return finish();
    if (action == Action::kTerminate) terminate();
    if (action == Action::kKill) kill();
    switchboard_.send_all(now_);
    wait();
    hear_signals();
    hear_starts();
    switchboard_.handle(polls_, now_);
    hear_processes();
    output_.handle(polls_);
    if (status_port_) status_port_->handle(polls_, now_);
    switchboard_.on_time(now_);
  }
}

void JobRun::start_ranks() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    try {
      start_rank(rank);
    } catch (const Error& error) {
      policy_.on_not_started("rank " + std::to_string(rank) + " cannot be started: " + error.what(),
                             kExitCannotRun);
      for (; rank < ranks_.size(); ++rank) policy_.on_exit(rank, {.at = now_});
    }
  }
}

void JobRun::start_rank(std::size_t rank) {
  auto [out_read, out_write] = os::make_pipe();
  auto [err_read, err_write] = os::make_pipe();
  const os::Fd socket = mailroom_.open(rank);
  os::ProcessPlan process;
  process.program = context_.program_path;
  process.arguments = options_.program;
  process.environment = make_environment(context_.environment, options_.variables,
                                         {.rank = rank,
                                          .world_size = ranks_.size(),
                                          .rendezvous_fd = socket.get(),
                                          .terminal_columns = os::terminal_columns(kStdout)});
  process.working_directory = options_.working_directory;
  // Two readers of one input would each get a part of it.
  process.standard_input = rank == 0 ? kStdin : null_.get();
  process.standard_output = out_write.get();
  process.standard_error = err_write.get();
  process.kept_fd = socket.get();
  process.cpus = plan_.places[rank];
  process.signals = signals_.state_at_start();
  process.open_file_limit = context_.open_file_limit;
  os::StartedProcess started = os::start_process(process);
  ranks_[rank].start_failure = std::move(started.start_failure);
  names_[rank] = {started.pid, plan_.job.table.rows[rank].host};
  rank_of_[started.pid] = rank;
  has_children_ = true;
  output_.attach(rank, std::move(out_read), std::move(err_read));
  say_if_verbose("rank " + std::to_string(rank) + " is process " + std::to_string(started.pid));
}

void JobRun::wait() {
  polls_.clear();
  signal_position_ = polls_.add(signals_.fd(), true, false);
  for (Rank& rank : ranks_) {
    if (rank.start_failure) rank.position = polls_.add(rank.start_failure.get(), true, false);
  }
  switchboard_.add_to(polls_, now_);
  output_.add_to(polls_);
  if (status_port_) status_port_->add_to(polls_, now_);
  std::optional<base::TimePoint> end = policy_.next_deadline();
  const auto of_mail = switchboard_.next_deadline(now_);
  if (of_mail && (!end || *of_mail < *end)) end = of_mail;
  const auto of_status = status_port_ ? status_port_->next_deadline() : std::nullopt;
  if (of_status && (!end || *of_status < *end)) end = of_status;
  polls_.wait(end);
  now_ = base::Clock::now();
}

void JobRun::hear_signals() {
  if (!polls_.readable(signal_position_)) return;
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCHLD) continue;
    if (os::parent_process() != context_.guard) policy_.on_guard_lost(now_);
    policy_.on_signal(signal->number, now_);
    ranks_have_signal_ = ranks_have_signal_ || signal->from_terminal;
  }
}

void JobRun::hear_starts() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].start_failure && polls_.readable(ranks_[rank].position)) hear_start(rank);
  }
}

void JobRun::hear_start(std::size_t rank) {
  os::StartFailure failure;
  const os::StartState state = os::read_start_failure(ranks_[rank].start_failure, failure);
  if (state == os::StartState::kUnknown) return;
  ranks_[rank].start_failure.reset();
  if (state != os::StartState::kFailed) return;
  // The file itself was there a moment ago.
  const std::string hint = failure.is_missing ? " (the interpreter it names, or a library?)" : "";
  policy_.on_not_started("cannot run " + context_.program_path + ": " + failure.text + hint,
                         kExitCannotRun);
}

void JobRun::hear_processes() {
  for (;;) {
    const os::ProcessEvents events = os::next_process_event();
    has_children_ = events.has_children;
    if (!events.event) return;
    on_process(*events.event);
  }
}

void JobRun::on_process(const os::ProcessEvent& event) {
  const auto found = rank_of_.find(event.pid);
  if (found == rank_of_.end()) return;  // An adopted orphan.
  const std::size_t rank = found->second;
  if (event.kind == Kind::kStopped) return policy_.on_stopped(rank, now_);
  if (event.kind == Kind::kContinued) return policy_.on_continued(rank);
  rank_of_.erase(found);
  // What it said before it ended counts before its end.
  if (ranks_[rank].start_failure) hear_start(rank);
  switchboard_.read_all(rank, now_);
  const Ending ending{event.kind == Kind::kKilled, event.value, now_};
  policy_.on_exit(rank, ending);
  switchboard_.on_departure(rank, to_text(ending));
  say_if_verbose("rank " + std::to_string(rank) + " " + to_text(ending));
}

void JobRun::on_message(std::size_t rank, const rendezvous::Message& message) {
  policy_.on_message(rank, message, now_);
  if (message.type == rendezvous::MessageType::kJoin) {
    say_if_verbose("rank " + std::to_string(rank) + " joined after " +
                   base::to_text(now_ - start_));
  }
}

// Says why the job ends, and asks everybody to end.
void JobRun::terminate() {
  const Outcome& outcome = policy_.outcome();
  const bool is_fault = outcome.reason == Outcome::Reason::kFault;
  if (is_fault) output_.catch_up(outcome.fault.rank);
  say(describe(outcome, policy_.records(), names_));
  if (is_fault) output_.say(quote(output_.last_words(outcome.fault.rank)));
  const bool is_interrupt = outcome.reason == Outcome::Reason::kSignal && outcome.signal == SIGINT;
  if (!is_interrupt) os::signal_descendants(SIGTERM);
  if (is_interrupt && !ranks_have_signal_) os::signal_descendants(SIGINT);
  os::signal_descendants(SIGCONT);  // A suspended process could not act on it.
}

void JobRun::kill() {
  std::vector<std::size_t> running;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!policy_.records()[rank].ending) running.push_back(rank);
  }
  if (!running.empty()) say("killed what had not ended: " + list_ranks(running));
  os::signal_descendants(SIGKILL);
}

int JobRun::finish() {
  if (!os::end_descendants(kReapTime)) say("some processes of the job could not be ended");
  output_.drain();
  while (output_.has_pending() && policy_.waits_for_reader(now_)) {
    polls_.clear();
    signal_position_ = polls_.add(signals_.fd(), true, false);
    output_.add_to(polls_);
    if (status_port_) status_port_->add_to(polls_, now_);
    polls_.wait(policy_.next_deadline());
    now_ = base::Clock::now();
    hear_signals();
    output_.handle(polls_);
    if (status_port_) status_port_->handle(polls_, now_);
  }
  return policy_.outcome().code;
}

// What has started may be a program that never joins.
JobStatus JobRun::status() const {
  using Phase = RankState::Phase;
  JobStatus status{.table = mailroom_.table(), .states = std::vector<RankState>(ranks_.size())};
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto& ending = policy_.records()[rank].ending;
    const bool has_started = !ranks_[rank].start_failure || switchboard_.has_joined(rank);
    if (ending) status.states[rank] = {Phase::kEnded, code_of(*ending)};
    if (!ending && has_started) status.states[rank].phase = Phase::kRunning;
  }
  return status;
}

void JobRun::say_if_verbose(const std::string& line) {
  if (options_.verbose) say(line);
}

}  // namespace rota::launcher

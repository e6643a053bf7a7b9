// A job from its first process to its last.
#include "launcher/job/job_run.h"

#include <algorithm>
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

ExitPolicy::Limits limits_of(const Options& options, base::TimePoint start) {
  ExitPolicy::Limits limits{.deadline = options.deadline,
                            .fault_grace = options.grace.value_or(kFaultGrace),
                            .request_grace = options.grace.value_or(kRequestGrace),
                            .timeout = std::nullopt};
  if (options.timeout) limits.timeout = start + *options.timeout;
  return limits;
}

std::vector<RankName> names_of(const RankTable& table) {
  std::vector<RankName> names;
  for (const RankRow& row : table.rows) names.push_back({.host = row.host});
  return names;
}

int code_of(const Ending& ending) {
  return ending.was_killed ? kExitSignalBase + ending.value : ending.value;
}

}  // namespace

JobRun::JobRun(const Options& options, const JobPlan& plan, Prepared prepared,
               const RunContext& context, os::SignalWatch& signals, OtherHosts* others)
    : options_(options),
      plan_(plan),
      context_(context),
      signals_(signals),
      others_(others),
      start_(base::Clock::now()),
      now_(start_),
      policy_(plan.job.table.rows.size(), limits_of(options, start_)),
      names_(names_of(plan.job.table)),
      last_words_(plan.job.table.rows.size()),
      table_(prepared.job.table),
      devices_(std::move(prepared.devices)),
      peers_(std::move(prepared.peers)),
      household_(options, context.guard, [this](const News& news) { hear(news); }),
      local_(options, context, signals, plan.share, std::move(prepared.provision), household_),
      mailroom_(prepared.job, std::move(prepared.loan), plan.share.ranks,
                [this](std::size_t rank, const auto& message) { on_message(rank, message); }),
      switchboard_(mailroom_.switchboard()),
      status_port_(std::move(prepared.status_port)) {
  for (const std::string& reason : plan.why) say_if_verbose(reason);
  if (options.status_address) serve_status();
  if (!others_) return;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (std::ranges::find(plan.share.ranks, rank) == plan.share.ranks.end()) {
      switchboard_.connect(rank, others_->line_to(plan.share.world, rank));
    }
  }
}

int JobRun::run() {
  if (others_) others_->start();
  // Many take longer to start than others take silence for life.
  local_.start_all(peers_, [this](std::size_t local) {
    if (others_) others_->send_all(base::Clock::now());
    return mailroom_.open(plan_.share.ranks[local]);
  });
  for (;;) {
    const Action action = policy_.decide(now_, has_processes(), switchboard_.can_stop());
    if (action == Action::kFinish) return finish();
    if (action == Action::kTerminate) terminate();
    if (action == Action::kAgree) stop_by_agreement();
    if (action == Action::kRelease) release();
    if (action == Action::kKill) kill();
    turn();
  }
}

void JobRun::turn() {
  switchboard_.send_all(now_);
  if (others_) {
    if (!local_.share().guests.empty()) others_->set_flow(household_.output().flow());
    others_->send_all(now_);
  }
  wait();
  hear_signals();
  household_.hear_starts(polls_);
  switchboard_.handle(polls_, now_);
  if (others_) {
    for (const News& news : others_->handle(polls_, now_)) hear(news);
  }
  household_.hear_processes();
  household_.pass_on_output(polls_);
  local_.look(now_);
  if (status_port_) status_port_->handle(polls_, now_);
  switchboard_.on_time(now_);
}

void JobRun::wait() {
  polls_.clear();
  signal_position_ = polls_.add(signals_.fd(), true, false);
  household_.add_to(polls_);
  switchboard_.add_to(polls_, now_);
  if (status_port_) status_port_->add_to(polls_, now_);
  auto end = base::earlier(policy_.next_deadline(), switchboard_.next_deadline(now_));
  end = base::earlier(end, local_.next_look());
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
    policy_.on_signal(signal->number, now_, {}, was_typed(*signal));
    ranks_have_signal_ = ranks_have_signal_ || signal->from_terminal;
  }
}

// Nobody has asked for the end: whoever started this host may start it again.
void JobRun::on_guard_lost() {
  const std::string cause = household_.why_killed(SIGKILL);
  policy_.on_guard_lost(now_);
  policy_.on_host_lost(
      {},
      "lost " + os::host_name() + ": its outer process ended" + (cause.empty() ? "" : ", " + cause),
      kExitSilent, now_);
}

void JobRun::hear(const News& news) {
  switch (news.kind) {
    case News::Kind::kRankStarted:
      names_[news.rank].pid = news.value;
      return say_if_verbose("rank " + std::to_string(news.rank) + " is process " +
                            std::to_string(news.value));
    case News::Kind::kRankStopped:
      return policy_.on_stopped(news.rank, now_);
    case News::Kind::kRankContinued:
      return policy_.on_continued(news.rank);
    case News::Kind::kRankExited:
    case News::Kind::kRankKilled:
      return on_end(news);
    case News::Kind::kEvaluatorStarted:
    case News::Kind::kEvaluatorExited:
    case News::Kind::kEvaluatorKilled:
      return on_evaluator(news);
    case News::Kind::kNotStarted:
      return policy_.on_not_started(news.text, news.value);
    case News::Kind::kSignal:
      return policy_.on_signal(news.value, now_, news.text);
    case News::Kind::kRankSpoke:
      return switchboard_.read_all(news.rank, now_);
    case News::Kind::kHostLost:
      return on_host_lost(news);
    case News::Kind::kRankWrote:
    case News::Kind::kEvaluatorWrote:
      return household_.show(news);
    case News::Kind::kHostEnded:
      return;
  }
}

void JobRun::on_end(const News& news) {
  if (policy_.records()[news.rank].ending) return;  // It was lost with its host.
  // What it said before it ended counts before its end.
  switchboard_.read_all(news.rank, now_);
  const Ending ending{news.kind == News::Kind::kRankKilled, news.value, now_, news.text};
  last_words_[news.rank] = news.last_words;
  policy_.on_exit(news.rank, ending);
  switchboard_.on_departure(news.rank, to_text(ending));
  say_if_verbose("rank " + std::to_string(news.rank) + " " + to_text(ending));
}

void JobRun::on_evaluator(const News& news) {
  const std::string name = "evaluator " + std::to_string(news.rank);
  if (news.kind == News::Kind::kEvaluatorStarted) {
    evaluators_.resize(std::max(evaluators_.size(), news.rank + 1));
    evaluators_[news.rank] = {.pid = news.value, .host = news.text};
    policy_.on_evaluator_start(news.rank);
    return say_if_verbose(name + " is process " + std::to_string(news.value));
  }
  const Ending ending{news.kind == News::Kind::kEvaluatorKilled, news.value, now_, news.text};
  if (evaluator_words_.empty()) evaluator_words_ = news.last_words;
  policy_.on_evaluator_end(news.rank, ending, now_);
  say_if_verbose(name + " " + to_text(ending));
}

void JobRun::on_host_lost(const News& news) {
  const std::vector<std::size_t> ranks = others_->ranks_of(news.rank);
  policy_.on_host_lost(ranks, news.text, news.value, now_);
  for (const std::size_t rank : ranks) switchboard_.on_departure(rank, "was lost with its host");
}

void JobRun::on_message(std::size_t rank, const rendezvous::Message& message) {
  policy_.on_message(rank, message, now_);
  if (message.type == rendezvous::MessageType::kJoin) {
    say_if_verbose("rank " + std::to_string(rank) + " joined after " +
                   base::to_text(now_ - start_));
  }
}

// For whoever has typed the signal, and may not want to wait for --grace.
std::string JobRun::hint_for_a_person() const {
  return ranks_have_signal_ ? "rotarun: once more kills the ranks\n" : "";
}

// Says why the job ends, and asks everybody to end.
void JobRun::terminate() {
  const Outcome& outcome = policy_.outcome();
  std::string text = "rotarun: " + why_it_ends() + "\n";
  if (outcome.reason == Outcome::Reason::kFault) text += last_words_of(outcome.fault.rank);
  if (outcome.reason == Outcome::Reason::kEvaluator) text += quote(evaluator_words_);
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
  const std::string text = "rotarun: " + why_it_ends() + " after a step that the ranks agree on\n";
  note_cause(text);
  household_.output().say(text + hint_for_a_person());
  if (others_) others_->ask_to_end(SIGCONT, text);
  household_.ask_to_end(SIGCONT);
  switchboard_.stop();
}

std::string JobRun::why_it_ends() {
  return describe(policy_.outcome(), policy_.records(), names_, evaluators_);
}

// Evaluators, which are all that is left, may finish what they are at.
void JobRun::release() {
  say_if_verbose("all ranks have ended, so the evaluators are asked to end");
  if (others_) others_->ask_to_end(SIGTERM, "");
  household_.ask_to_end(SIGTERM);
}

std::string JobRun::last_words_of(std::size_t rank) {
  const auto& own = plan_.share.ranks;
  const auto local = static_cast<std::size_t>(std::ranges::find(own, rank) - own.begin());
  if (local == own.size()) return quote(last_words_[rank]);
  household_.output().catch_up(local);
  return quote(household_.output().last_words(local));
}

void JobRun::kill() {
  std::vector<std::size_t> running;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (!policy_.records()[rank].ending) running.push_back(rank);
  }
  std::string names = list_ranks(running);
  for (const std::size_t index : policy_.evaluators()) {
    names += (names.empty() ? "" : ", ") + ("evaluator " + std::to_string(index));
  }
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
  note_cause(why_it_ends());  // Where it became known only now.
  const int code = policy_.outcome().code;
  is_done_ = code == 0;
  if (is_done_ && options_.when_done == WhenDone::kWait) {
    stay_when_done(signals_, status_port_ ? &*status_port_ : nullptr, others_);
  }
  return code;
}

void JobRun::write_rest() {
  while (household_.output().has_pending() && policy_.waits_for_reader(now_)) {
    polls_.clear();
    signal_position_ = polls_.add(signals_.fd(), true, false);
    household_.add_to(polls_);
    if (status_port_) status_port_->add_to(polls_, now_);
    wait_beating(polls_, policy_.next_deadline());
    now_ = base::Clock::now();
    hear_signals();
    household_.pass_on_output(polls_);
    if (status_port_) status_port_->handle(polls_, now_);
  }
}

// All are to exit with the same code, and at about the same time.
void JobRun::tell_others_the_end() {
  const Outcome& outcome = policy_.outcome();
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

void JobRun::serve_status() {
  if (status_port_) return status_port_->ask([this] { return status(); });
  std::vector<std::string> names;
  if (const auto& ranks = plan_.share.ranks; !ranks.empty()) {
    names.push_back(names_[ranks.front()].host);
  }
  status_port_.emplace(
      *options_.status_address, [this] { return status(); }, std::move(names));
  const bool is_known = status_port_->address() == *options_.status_address;
  if (options_.verbose || !is_known) household_.say("status at http://" + status_port_->address());
}

// What has started may be a program that never joins.
JobStatus JobRun::status() const {
  using Phase = RankState::Phase;
  JobStatus status{
      .table = table_, .devices = devices_, .states = std::vector<RankState>(names_.size())};
  status.is_done = is_done_;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    const auto& ending = policy_.records()[rank].ending;
    if (ending) status.states[rank] = {Phase::kEnded, code_of(*ending)};
    if (!ending && names_[rank].pid >= 0) status.states[rank].phase = Phase::kRunning;
  }
  return status;
}

void JobRun::say_if_verbose(const std::string& line) {
  if (options_.verbose) household_.say(line);
}

}  // namespace rota::launcher

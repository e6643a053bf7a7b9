// A World starts the ranks of one world of a job, tells the exit policy and the message router what
// happened, and keeps what each failed rank wrote last.
#include "launcher/job/world.h"

#include <algorithm>
#include <utility>

#include "launcher/command/exit_codes.h"

namespace rota::launcher {
namespace {

ExitPolicy::Limits limits_of(const Options& options, base::TimePoint start) {
  ExitPolicy::Limits limits{.deadline = options.deadline,
                            .fault_grace = options.grace.value_or(kFaultGrace),
                            .request_grace = options.grace.value_or(kRequestGrace),
                            .timeout = std::nullopt,
                            .stop_signal = options.stop_signal};
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

World::World(const Job& job, const JobPlan& plan, Prepared prepared)
    : job_(job),
      number_(plan.assignment.world),
      now_(job.start),
      policy_(plan.job.table.rows.size(), limits_of(job.options, job.start)),
      names_(names_of(plan.job.table)),
      last_words_(plan.job.table.rows.size()),
      table_(prepared.job.table),
      devices_(std::move(prepared.devices)),
      peers_(std::move(prepared.peers)),
      mpi_world_(prepared.mpi, job.options.join_timeout.value_or(kMpiPatience),
                 goes_over_mpi(job.options)),
      local_(job.options, job.context, job.signals, plan.assignment, std::move(prepared.provision),
             job.processes),
      rank_channels_(prepared.job, std::move(prepared.handoff), plan.assignment.ranks,
                     [this](std::size_t rank, const auto& message) { on_message(rank, message); }),
      router_(rank_channels_.router()) {
  local_.serve_mpi(prepared.mpi);
  for (const std::string& reason : plan.why) say_if_verbose(reason);
  if (!job_.others) return;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (std::ranges::find(plan.assignment.ranks, rank) == plan.assignment.ranks.end()) {
      router_.connect(rank, job_.others->connection_to(rank));
    }
  }
}

void World::start() {
  if (job_.others) job_.others->start();
  // Starting many ranks can take so long that other hosts would miss a heartbeat.
  const auto show_life = [this] {
    if (job_.others) job_.others->send_all(base::Clock::now());
  };
  const auto open = [this](std::size_t local) {
    return rank_channels_.open(assignment().ranks[local]);
  };
  local_.start_all(peers_, open, show_life);
}

std::optional<base::TimePoint> World::next_deadline(base::TimePoint now) const {
  const auto end = base::earlier(policy_.next_deadline(), router_.next_deadline(now));
  // A deadline of MPI that has passed means nothing while the job ends.
  const auto end_of_mpi = policy_.is_running() ? mpi_world_.next_deadline() : std::nullopt;
  return base::earlier(base::earlier(end, end_of_mpi), local_.next_deadline());
}

void World::add_to(os::PollSet& polls, base::TimePoint now) {
  router_.add_to(polls, now);
  local_.add_to(polls);
}

void World::handle(const os::PollSet& polls, base::TimePoint now) {
  now_ = now;
  router_.handle(polls, now);
  for (const JobEvent& event : local_.hear_mpi(polls, now)) hear(event, now);
}

void World::on_time(base::TimePoint now) {
  local_.look(now);
  router_.on_time(now);
  if (policy_.is_running()) watch_mpi(now);
}

void World::watch_mpi(base::TimePoint now) {
  if (auto fault = mpi_world_.fault_by(now)) return policy_.on_fault(*std::move(fault), now);
  const std::string stall = mpi_world_.stall_by(now);
  if (!stall.empty()) policy_.on_mpi_failure(stall, kExitSilent, now);
}

void World::hear(const JobEvent& event, base::TimePoint now) {
  now_ = now;
  if (is_late(event, number_)) return say_if_verbose(describe_late(event));
  switch (event.kind) {
    case JobEvent::Kind::kRankStarted:
      names_[event.rank].pid = event.value;
      mpi_world_.on_started(event.rank, now_);
      return say_if_verbose("rank " + std::to_string(event.rank) + " is process " +
                            std::to_string(event.value));
    case JobEvent::Kind::kRankStopped:
      return policy_.on_stopped(event.rank, now_);
    case JobEvent::Kind::kRankContinued:
      return policy_.on_continued(event.rank);
    case JobEvent::Kind::kRankExited:
    case JobEvent::Kind::kRankKilled:
      return on_end(event);
    case JobEvent::Kind::kEvaluatorStarted:
    case JobEvent::Kind::kEvaluatorExited:
    case JobEvent::Kind::kEvaluatorKilled:
      return on_evaluator(event);
    case JobEvent::Kind::kNotStarted:
      return policy_.on_not_started(event.text, event.value);
    case JobEvent::Kind::kSignal:
      if (job_.signals.is_notice(event.value)) return signal_ranks(event.value, event.text, now_);
      return policy_.on_signal(event.value, now_, event.text);
    case JobEvent::Kind::kRankSpoke:
      return router_.read_all(event.rank, now_);
    case JobEvent::Kind::kRankConnected:
      return mpi_world_.on_connected(event.rank, now_);
    case JobEvent::Kind::kRankFinalized:
      return mpi_world_.on_finalized(event.rank);
    case JobEvent::Kind::kRankAborted:
      return policy_.on_mpi_abort(event.rank, event.value, event.text, now_);
    case JobEvent::Kind::kRankFenced:
      return on_fenced(event);
    case JobEvent::Kind::kRankWroteLetter:
      return on_letter(event);
    case JobEvent::Kind::kMpiFailed:
      return policy_.on_mpi_failure(event.text, event.value, now_);
    case JobEvent::Kind::kHostLost:
      return on_host_lost(event);
    case JobEvent::Kind::kRankWrote:
    case JobEvent::Kind::kEvaluatorWrote:
      return job_.processes.show(event);
    case JobEvent::Kind::kHostEnded:
      return;
  }
}

void World::signal_ranks(int number, const std::string& way, base::TimePoint now) {
  if (echoes_.is_echo(number, way, now)) return;
  say_if_verbose("passes " + os::signal_name(number) + " on to the ranks");
  if (job_.others) job_.others->signal_ranks(number);
  job_.processes.signal_ranks(number);
}

void World::on_end(const JobEvent& event) {
  if (policy_.records()[event.rank].ending) return;  // The rank was lost with its host.
  // The rank's last messages are handled before its end.
  router_.read_all(event.rank, now_);
  for (const JobEvent& earlier : local_.catch_up(event.rank, now_)) hear(earlier, now_);
  if (local_.hold(event, now_)) return;
  Ending ending{event.kind == JobEvent::Kind::kRankKilled, event.value, now_, event.text};
  const bool is_by_passed_signal = ending.was_killed && echoes_.has_come(ending.value);
  if (is_by_passed_signal && ending.why.empty()) ending.why = why_passed_signal_kills(ending.value);
  last_words_[event.rank] = event.last_words;
  policy_.on_exit(event.rank, ending);
  if (auto fault = mpi_world_.on_exit(event.rank, ending.is_success())) {
    policy_.on_fault(*std::move(fault), now_);
  }
  router_.on_departure(event.rank, to_text(ending));
  say_if_verbose("rank " + std::to_string(event.rank) + " " + to_text(ending));
}

void World::on_fenced(const JobEvent& event) {
  auto share = decode_fence_share(event.text);
  const auto result = share ? mpi_world_.on_fenced(*std::move(share), now_) : std::nullopt;
  if (const std::string excess = mpi_world_.excess(); !excess.empty()) {
    policy_.on_mpi_failure(excess, kExitFailed, now_);
  }
  if (!result) return;
  if (job_.others) job_.others->end_fence(*result);
  local_.end_fence(*result, now_);
}

void World::on_letter(const JobEvent& event) {
  const auto letter = decode_mpi_letter(event.text);
  if (!letter || letter->to >= names_.size()) return;
  const auto& own = assignment().ranks;
  if (std::ranges::find(own, letter->to) != own.end()) return local_.take_letter(*letter);
  if (job_.others) job_.others->send_letter(*letter);
}

void World::on_evaluator(const JobEvent& event) {
  const std::string name = "evaluator " + std::to_string(event.rank);
  if (event.kind == JobEvent::Kind::kEvaluatorStarted) {
    evaluators_.resize(std::max(evaluators_.size(), event.rank + 1));
    evaluators_[event.rank] = {.pid = event.value, .host = event.text};
    policy_.on_evaluator_start(event.rank);
    return say_if_verbose(name + " is process " + std::to_string(event.value));
  }
  const Ending ending{event.kind == JobEvent::Kind::kEvaluatorKilled, event.value, now_,
                      event.text};
  if (evaluator_words_.empty()) evaluator_words_ = event.last_words;
  policy_.on_evaluator_end(event.rank, ending, now_);
  say_if_verbose(name + " " + to_text(ending));
}

void World::on_host_lost(const JobEvent& event) {
  const std::vector<std::size_t> ranks = job_.others->ranks_of(event.rank);
  policy_.on_host_lost(ranks, event.text, event.value, now_);
  for (const std::size_t rank : ranks) router_.on_departure(rank, "was lost with its host");
}

void World::on_message(std::size_t rank, const rendezvous::Message& message) {
  policy_.on_message(rank, message, now_);
  if (message.type == rendezvous::MessageType::kJoin) {
    say_if_verbose("rank " + std::to_string(rank) + " joined after " +
                   base::to_text(now_ - job_.start));
  }
}

std::string World::why_it_ends() const {
  return describe(policy_.outcome(), policy_.records(), names_, evaluators_);
}

std::string World::words_of_cause() {
  const Outcome& outcome = policy_.outcome();
  if (outcome.reason == Outcome::Reason::kFault) return last_words_of(outcome.fault.rank);
  if (outcome.reason == Outcome::Reason::kEvaluator) return quote(evaluator_words_);
  return "";
}

std::string World::last_words_of(std::size_t rank) {
  const auto& own = assignment().ranks;
  const auto local = static_cast<std::size_t>(std::ranges::find(own, rank) - own.begin());
  if (local == own.size()) return quote(last_words_[rank]);
  RankOutput& output = job_.processes.output();
  output.catch_up(local);
  return quote(output.last_words(local));
}

std::string World::who_runs() const {
  std::vector<std::size_t> running;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (!policy_.records()[rank].ending) running.push_back(rank);
  }
  std::string names = list_ranks(running);
  for (const std::size_t index : policy_.evaluators()) {
    names += (names.empty() ? "" : ", ") + ("evaluator " + std::to_string(index));
  }
  return names;
}

// Returns the status. A rank counts as running once it has started, because its program may never
// join the job.
JobStatus World::status() const {
  using Phase = RankState::Phase;
  JobStatus status{
      .table = table_, .devices = devices_, .states = std::vector<RankState>(names_.size())};
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    const auto& ending = policy_.records()[rank].ending;
    if (ending) status.states[rank] = {Phase::kEnded, code_of(*ending)};
    if (!ending && names_[rank].pid >= 0) status.states[rank].phase = Phase::kRunning;
  }
  return status;
}

void World::say_if_verbose(const std::string& line) {
  if (job_.options.verbose) job_.processes.say(line);
}

}  // namespace rota::launcher

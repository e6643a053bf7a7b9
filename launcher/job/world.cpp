// One world of a job.
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

World::World(const Job& job, const JobPlan& plan, Prepared prepared)
    : job_(job),
      number_(plan.share.world),
      now_(job.start),
      policy_(plan.job.table.rows.size(), limits_of(job.options, job.start)),
      names_(names_of(plan.job.table)),
      last_words_(plan.job.table.rows.size()),
      table_(prepared.job.table),
      devices_(std::move(prepared.devices)),
      peers_(std::move(prepared.peers)),
      local_(job.options, job.context, job.signals, plan.share, std::move(prepared.provision),
             job.household),
      mailroom_(prepared.job, std::move(prepared.loan), plan.share.ranks,
                [this](std::size_t rank, const auto& message) { on_message(rank, message); }),
      switchboard_(mailroom_.switchboard()) {
  for (const std::string& reason : plan.why) say_if_verbose(reason);
  if (!job_.others) return;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (std::ranges::find(plan.share.ranks, rank) == plan.share.ranks.end()) {
      switchboard_.connect(rank, job_.others->line_to(rank));
    }
  }
}

void World::start() {
  if (job_.others) job_.others->start();
  // Many take longer to start than others take silence for life.
  local_.start_all(peers_, [this](std::size_t local) {
    if (job_.others) job_.others->send_all(base::Clock::now());
    return mailroom_.open(share().ranks[local]);
  });
}

std::optional<base::TimePoint> World::next_deadline(base::TimePoint now) const {
  const auto end = base::earlier(policy_.next_deadline(), switchboard_.next_deadline(now));
  return base::earlier(end, local_.next_look());
}

void World::handle(const os::PollSet& polls, base::TimePoint now) {
  now_ = now;
  switchboard_.handle(polls, now);
}

void World::on_time(base::TimePoint now) {
  local_.look(now);
  switchboard_.on_time(now);
}

void World::hear(const News& news, base::TimePoint now) {
  now_ = now;
  if (is_late(news, number_)) return say_if_verbose(describe_late(news));
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
      return job_.household.show(news);
    case News::Kind::kHostEnded:
      return;
  }
}

void World::on_end(const News& news) {
  if (policy_.records()[news.rank].ending) return;  // It was lost with its host.
  // What it said before it ended counts before its end.
  switchboard_.read_all(news.rank, now_);
  const Ending ending{news.kind == News::Kind::kRankKilled, news.value, now_, news.text};
  last_words_[news.rank] = news.last_words;
  policy_.on_exit(news.rank, ending);
  switchboard_.on_departure(news.rank, to_text(ending));
  say_if_verbose("rank " + std::to_string(news.rank) + " " + to_text(ending));
}

void World::on_evaluator(const News& news) {
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

void World::on_host_lost(const News& news) {
  const std::vector<std::size_t> ranks = job_.others->ranks_of(news.rank);
  policy_.on_host_lost(ranks, news.text, news.value, now_);
  for (const std::size_t rank : ranks) switchboard_.on_departure(rank, "was lost with its host");
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
  const auto& own = share().ranks;
  const auto local = static_cast<std::size_t>(std::ranges::find(own, rank) - own.begin());
  if (local == own.size()) return quote(last_words_[rank]);
  RankOutput& output = job_.household.output();
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

// What has started may be a program that never joins.
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
  if (job_.options.verbose) job_.household.say(line);
}

}  // namespace rota::launcher

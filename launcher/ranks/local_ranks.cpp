// The ranks of this host.
#include "launcher/ranks/local_ranks.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/ranks/heartbeat.h"
#include "launcher/ranks/rank_environment.h"
#include "os/cgroup.h"
#include "os/host.h"
#include "os/output.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

using Kind = os::ProcessEvent::Kind;

constexpr int kStdin = 0;

std::vector<std::string> names_of(const Share& share) {
  std::vector<std::string> names;
  for (const std::size_t rank : share.ranks) names.push_back("rank " + std::to_string(rank));
  for (std::size_t index = 0; index < share.evaluators.size(); ++index) {
    names.push_back("evaluator " + std::to_string(index));
  }
  for (const Guest& guest : share.guests) {
    names.push_back((guest.is_evaluator ? "evaluator " : "rank ") + std::to_string(guest.number));
  }
  return names;
}

// Nobody is watched whom MPI's own launcher has started, or who is alone.
std::optional<MpiWatch> watch_for_mpi(const Options& options, const RunContext& context,
                                      const Share& share) {
  const bool is_known =
      !hides_ranks_from_mpi(share.ranks.size(), share.world_size, context.environment);
  if (options.allow_mpi || options.preflight || is_known) return std::nullopt;
  return MpiWatch(base::Clock::now());
}

}  // namespace

LocalRanks::LocalRanks(const Options& options, const RunContext& context, os::SignalWatch& signals,
                       Share share, Provision provision, Report report)
    : options_(options),
      context_(context),
      signals_(signals),
      share_(std::move(share)),
      provision_(std::move(provision)),
      report_(std::move(report)),
      output_(options),
      null_(os::open_null()),
      members_(share_.ranks.size() + share_.evaluators.size()),
      mpi_watch_(watch_for_mpi(options, context, share_)),
      oom_kill_count_(os::oom_kill_count()) {
  output_.begin(names_of(share_), !share_.sends_output);
  for (const std::string& warning : provision_.warnings) say("warning: " + warning);
}

std::size_t LocalRanks::group_of(std::size_t local) const {
  return is_rank(local) ? share_.groups[local] : share_.evaluators[number_of(local)];
}

std::size_t LocalRanks::number_of(std::size_t local) const {
  return is_rank(local) ? share_.ranks[local] : local - share_.ranks.size();
}

std::string LocalRanks::name_of(std::size_t local) const {
  return (is_rank(local) ? "rank " : "evaluator ") + std::to_string(number_of(local));
}

void LocalRanks::start_all(const Peers& peers, const OpenLine& open_line) {
  if (options_.report_bindings) {
    for (const std::string& line : describe_bindings(share_, os::host_name())) say(line);
  }
  for (std::size_t local = 0; local < members_.size(); ++local) {
    try {
      beat();
      start(local, peers, open_line);
    } catch (const Error& error) {
      report({.kind = News::Kind::kNotStarted,
              .rank = is_rank(local) ? share_.ranks[local] : 0,
              .value = kExitCannotRun,
              .text = name_of(local) + " cannot be started: " + error.what()});
      for (; local < members_.size(); ++local) report_end(local, {.kind = News::Kind::kRankExited});
    }
  }
}

std::vector<std::string> LocalRanks::environment_of(std::size_t local, const Peers& peers,
                                                    int line) const {
  const std::vector<Variable>& variables = options_.groups[group_of(local)].variables;
  const auto columns = os::terminal_columns(os::kStdout);
  if (!is_rank(local)) {
    const EvaluatorContract contract{.index = number_of(local),
                                     .tf_config = tf_config_of_evaluator(peers, number_of(local)),
                                     .terminal_columns = columns};
    return environment_of_evaluator(context_.environment, variables, contract);
  }
  RankContract contract = contract_of(share_, local, peers, provision_);
  contract.rendezvous_fd = line;
  contract.terminal_columns = columns;
  return make_environment(context_.environment, variables, contract);
}

void LocalRanks::start(std::size_t local, const Peers& peers, const OpenLine& open_line) {
  auto [out_read, out_write] = os::make_pipe();
  auto [err_read, err_write] = os::make_pipe();
  const os::Fd line = is_rank(local) ? open_line(local) : os::Fd();
  const std::size_t group = group_of(local);
  const bool is_first = is_rank(local) && share_.ranks[local] == 0;
  os::ProcessPlan process;
  process.program = context_.program_paths[group];
  process.arguments = options_.groups[group].program;
  process.environment = environment_of(local, peers, line.get());
  process.working_directory = options_.groups[group].working_directory;
  // Two readers of one input would each get a part of it.
  process.standard_input = is_first && context_.has_input ? kStdin : null_.get();
  process.standard_output = out_write.get();
  process.standard_error = err_write.get();
  process.kept_fd = line.get();
  if (is_rank(local)) process.cpus = share_.places[local];
  process.signals = signals_.state_at_start();
  process.open_file_limit = context_.open_file_limit;
  os::ProcessTree& tree = members_[local].tree;
  tree = os::ProcessTree(process, {.guard = context_.guard, .beats = heartbeat()});
  member_of_[tree.keeper()] = local;
  has_children_ = true;
  output_.attach(local, std::move(out_read), std::move(err_read));
  const auto kind = is_rank(local) ? News::Kind::kRankStarted : News::Kind::kEvaluatorStarted;
  report({.kind = kind,
          .rank = number_of(local),
          .value = tree.pid(),
          .text = is_rank(local) ? "" : os::host_name()});
}

void LocalRanks::add_to(os::PollSet& polls) {
  for (Member& member : members_) {
    if (!member.tree.events()) continue;
    member.position = polls.add(member.tree.events().get(), true, false);
  }
  output_.add_to(polls);
}

void LocalRanks::hear_starts(const os::PollSet& polls) {
  for (Member& member : members_) {
    member.has_news = member.tree.events() && polls.readable(member.position);
  }
}

void LocalRanks::hear_tree(std::size_t local) {
  os::ProcessTree& tree = members_[local].tree;
  for (;;) {
    const auto event = tree.next_event();
    if (const auto failure = tree.take_start_failure()) on_start_failure(local, *failure);
    if (!event) return;
    on_process(local, *event);
  }
}

void LocalRanks::on_start_failure(std::size_t local, const os::StartFailure& failure) {
  // The file itself was there a moment ago.
  const std::string hint = failure.is_missing ? " (the interpreter it names, or a library?)" : "";
  report({.kind = News::Kind::kNotStarted,
          .rank = is_rank(local) ? share_.ranks[local] : 0,
          .value = kExitCannotRun,
          .text = "cannot run " + context_.program_paths[group_of(local)] + ": " + failure.text +
                  hint});
}

// Children are keepers, and orphans of a keeper that somebody has killed.
void LocalRanks::hear_processes() {
  for (std::size_t local = 0; local < members_.size(); ++local) {
    if (members_[local].has_news) hear_tree(local);
  }
  for (;;) {
    const os::ProcessEvents events = os::next_process_event();
    has_children_ = events.has_children;
    if (!events.event) return;
    const auto found = member_of_.find(events.event->pid);
    if (found == member_of_.end()) continue;
    const Kind kind = events.event->kind;
    // Who stops a keeper would keep us from hearing of its rank.
    if (kind == Kind::kStopped) os::send_signal(found->first, SIGCONT);
    if (kind == Kind::kStopped || kind == Kind::kContinued) continue;
    has_lost_keeper_ = has_lost_keeper_ || kind == Kind::kKilled;
    members_[found->second].tree.on_keeper_end();
    hear_tree(found->second);
    member_of_.erase(found);
  }
}

void LocalRanks::on_process(std::size_t local, const os::ProcessEvent& event) {
  if (event.kind == Kind::kStopped || event.kind == Kind::kContinued) {
    if (!is_rank(local)) return;  // Nobody waits for an evaluator.
    const bool is_stop = event.kind == Kind::kStopped;
    return report({.kind = is_stop ? News::Kind::kRankStopped : News::Kind::kRankContinued,
                   .rank = share_.ranks[local]});
  }
  const bool was_killed = event.kind == Kind::kKilled;
  report_end(local, {.kind = was_killed ? News::Kind::kRankKilled : News::Kind::kRankExited,
                     .value = event.value,
                     .text = was_killed ? why_killed(event.value) : ""});
}

// Each process that the kernel has killed for want of memory is counted by it, and explains one
// ending.
std::string LocalRanks::why_killed(int signal) {
  if (signal != SIGKILL || !oom_kill_count_) return "";
  if (os::oom_kill_count().value_or(0) <= *oom_kill_count_) return "";
  ++*oom_kill_count_;
  const auto limit = os::memory_limit_bytes();
  return "out of memory" +
         (limit ? " (the limit of its control group is " + std::to_string(*limit >> 20) + " MiB)"
                : std::string());
}

// `news`: its kind as of a rank.
void LocalRanks::report_end(std::size_t local, News news) {
  const bool was_killed = news.kind == News::Kind::kRankKilled;
  members_[local].has_ended = true;
  news.rank = number_of(local);
  if (!is_rank(local)) {
    news.kind = was_killed ? News::Kind::kEvaluatorKilled : News::Kind::kEvaluatorExited;
  }
  const bool has_failed = was_killed || news.value != 0;
  // What it wrote comes before its end also where the job is led: that may be over with it.
  if (has_failed || share_.sends_output) output_.catch_up(local);
  if (has_failed) news.last_words = output_.last_words(local);
  report(std::move(news));
}

void LocalRanks::report(News news) {
  news.world = share_.world;
  report_(news);
}

void LocalRanks::ask_to_end(int signal) {
  for (Member& member : members_) {
    member.tree.signal(signal);
    member.tree.signal(SIGCONT);  // A suspended process could not act on it.
  }
}

void LocalRanks::kill() {
  for (Member& member : members_) member.tree.signal(SIGKILL);
  if (has_lost_keeper_) os::signal_descendants(SIGKILL);  // What it has kept is ours.
}

// In slices, for whoever does not beat all the while counts as hung.
bool LocalRanks::finish(base::Duration at_most) {
  constexpr std::chrono::milliseconds kSlice{500};
  bool all_gone = false;
  for (base::Duration waited{0}; !all_gone && waited < at_most; waited += kSlice) {
    beat();
    all_gone = os::end_descendants(kSlice);
  }
  beat();
  output_.drain();
  return all_gone;
}

std::optional<base::TimePoint> LocalRanks::next_look() const {
  return mpi_watch_ ? mpi_watch_->next_look() : std::nullopt;
}

void LocalRanks::look(base::TimePoint now) {
  if (next_look().value_or(base::TimePoint::max()) > now) return;
  const std::string warning =
      mpi_watch_->look(now, [] { return os::descendants_of(os::own_process()); });
  if (!warning.empty()) say("warning: " + warning);
}

bool LocalRanks::has_running() const { return !std::ranges::all_of(members_, &Member::has_ended); }

}  // namespace rota::launcher

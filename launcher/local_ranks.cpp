// The ranks of this host.
#include "launcher/local_ranks.h"

#include <utility>

#include <rota/error.h>

#include "launcher/exit_policy.h"
#include "launcher/rank_environment.h"
#include "os/cgroup.h"
#include "os/host.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

using Kind = os::ProcessEvent::Kind;

constexpr int kStdin = 0;
constexpr int kStdout = 1;

// How long killed processes may take to vanish.
constexpr auto kReapTime = std::chrono::seconds(5);

}  // namespace

LocalRanks::LocalRanks(const Options& options, const RunContext& context, os::SignalWatch& signals,
                       Share share, Provision provision, Report report)
    : options_(options),
      context_(context),
      signals_(signals),
      share_(std::move(share)),
      provision_(std::move(provision)),
      report_(std::move(report)),
      output_(share_, options),
      null_(os::open_null()),
      ranks_(share_.ranks.size()),
      oom_kill_count_(os::oom_kill_count()) {
  for (const std::string& warning : provision_.warnings) say("warning: " + warning);
}

void LocalRanks::start_all(const Peers& peers, const OpenLine& open_line) {
  if (options_.report_bindings) {
    for (const std::string& line : describe_bindings(share_, os::host_name())) say(line);
  }
  for (std::size_t local = 0; local < ranks_.size(); ++local) {
    try {
      start(local, peers, open_line);
    } catch (const Error& error) {
      report_({.kind = News::Kind::kNotStarted,
               .rank = share_.ranks[local],
               .value = kExitCannotRun,
               .text = "rank " + std::to_string(share_.ranks[local]) +
                       " cannot be started: " + error.what()});
      for (; local < ranks_.size(); ++local) report_end(local, {.kind = News::Kind::kRankExited});
    }
  }
}

void LocalRanks::start(std::size_t local, const Peers& peers, const OpenLine& open_line) {
  auto [out_read, out_write] = os::make_pipe();
  auto [err_read, err_write] = os::make_pipe();
  const os::Fd socket = open_line(local);
  const std::size_t rank = share_.ranks[local];
  os::ProcessPlan process;
  process.program = context_.program_path;
  process.arguments = options_.program;
  RankContract contract = contract_of(share_, local, peers, provision_);
  contract.rendezvous_fd = socket.get();
  contract.terminal_columns = os::terminal_columns(kStdout);
  process.environment = make_environment(context_.environment, options_.variables, contract);
  process.working_directory = options_.working_directory;
  // Two readers of one input would each get a part of it.
  process.standard_input = rank == 0 && context_.has_input ? kStdin : null_.get();
  process.standard_output = out_write.get();
  process.standard_error = err_write.get();
  process.kept_fd = socket.get();
  process.cpus = share_.places[local];
  process.signals = signals_.state_at_start();
  process.open_file_limit = context_.open_file_limit;
  os::StartedProcess started = os::start_process(process);
  ranks_[local].start_failure = std::move(started.start_failure);
  rank_of_[started.pid] = local;
  has_children_ = true;
  output_.attach(local, std::move(out_read), std::move(err_read));
  report_({.kind = News::Kind::kRankStarted, .rank = rank, .value = started.pid});
}

void LocalRanks::add_to(os::PollSet& polls) {
  for (Rank& rank : ranks_) {
    if (rank.start_failure) rank.position = polls.add(rank.start_failure.get(), true, false);
  }
  output_.add_to(polls);
}

void LocalRanks::hear_starts(const os::PollSet& polls) {
  for (std::size_t local = 0; local < ranks_.size(); ++local) {
    if (ranks_[local].start_failure && polls.readable(ranks_[local].position)) hear_start(local);
  }
}

void LocalRanks::hear_start(std::size_t local) {
  os::StartFailure failure;
  const os::StartState state = os::read_start_failure(ranks_[local].start_failure, failure);
  if (state == os::StartState::kUnknown) return;
  ranks_[local].start_failure.reset();
  if (state != os::StartState::kFailed) return;
  // The file itself was there a moment ago.
  const std::string hint = failure.is_missing ? " (the interpreter it names, or a library?)" : "";
  report_({.kind = News::Kind::kNotStarted,
           .rank = share_.ranks[local],
           .value = kExitCannotRun,
           .text = "cannot run " + context_.program_path + ": " + failure.text + hint});
}

void LocalRanks::hear_processes() {
  for (;;) {
    const os::ProcessEvents events = os::next_process_event();
    has_children_ = events.has_children;
    if (!events.event) return;
    on_process(*events.event);
  }
}

void LocalRanks::on_process(const os::ProcessEvent& event) {
  const auto found = rank_of_.find(event.pid);
  if (found == rank_of_.end()) return;  // An adopted orphan.
  const std::size_t local = found->second;
  const std::size_t rank = share_.ranks[local];
  if (event.kind == Kind::kStopped)
    return report_({.kind = News::Kind::kRankStopped, .rank = rank});
  if (event.kind == Kind::kContinued) {
    return report_({.kind = News::Kind::kRankContinued, .rank = rank});
  }
  rank_of_.erase(found);
  if (ranks_[local].start_failure) hear_start(local);
  const auto kind = event.kind == Kind::kKilled ? News::Kind::kRankKilled : News::Kind::kRankExited;
  const std::string why = event.kind == Kind::kKilled ? why_killed(event.value) : "";
  report_end(local, {.kind = kind, .value = event.value, .text = why});
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

void LocalRanks::report_end(std::size_t local, News news) {
  ranks_[local].has_ended = true;
  news.rank = share_.ranks[local];
  const bool has_failed = news.kind == News::Kind::kRankKilled || news.value != 0;
  // What it wrote comes before its end also where the job is led: that may be over with it.
  if (has_failed || share_.sends_output) output_.catch_up(local);
  if (has_failed) news.last_words = output_.last_words(local);
  report_(news);
}

void LocalRanks::ask_to_end(int signal) {
  os::signal_descendants(signal);
  os::signal_descendants(SIGCONT);  // A suspended process could not act on it.
}

void LocalRanks::kill() { os::signal_descendants(SIGKILL); }

bool LocalRanks::finish() {
  const bool all_gone = os::end_descendants(kReapTime);
  output_.drain();
  return all_gone;
}

std::vector<std::size_t> LocalRanks::running() const {
  std::vector<std::size_t> running;
  for (std::size_t local = 0; local < ranks_.size(); ++local) {
    if (!ranks_[local].has_ended) running.push_back(share_.ranks[local]);
  }
  return running;
}

}  // namespace rota::launcher

// The ranks of one world that are on this host.
#include "launcher/ranks/local_ranks.h"

#include <signal.h>

#include <utility>

#include <rota/error.h>

#include "launcher/ranks/heartbeat.h"
#include "launcher/ranks/rank_environment.h"
#include "os/host.h"
#include "os/output.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

constexpr int kStdin = 0;

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
                       Share share, Provision provision, Household& household)
    : options_(options),
      context_(context),
      signals_(signals),
      share_(std::move(share)),
      provision_(std::move(provision)),
      household_(household),
      null_(os::open_null()),
      mpi_watch_(watch_for_mpi(options, context, share_)) {
  household_.begin(share_);
  for (const std::string& warning : provision_.warnings) household_.say("warning: " + warning);
}

std::size_t LocalRanks::group_of(std::size_t local) const {
  return is_rank(local) ? share_.groups[local] : share_.evaluators[index_of(local)];
}

void LocalRanks::start_all(const Peers& peers, const OpenLine& open_line) {
  if (options_.report_bindings) {
    for (const std::string& line : describe_bindings(share_, os::host_name())) household_.say(line);
  }
  const std::size_t count = share_.ranks.size() + share_.evaluators.size();
  for (std::size_t local = 0; local < count && !signals_.has_other_than(SIGCHLD); ++local) {
    try {
      beat();
      const os::Fd line = is_rank(local) ? open_line(local) : os::Fd();
      household_.start(local, plan_of(local, peers, line.get()));
    } catch (const Error& error) {
      return household_.give_up(local, error.what());
    }
  }
}

std::vector<std::string> LocalRanks::environment_of(std::size_t local, const Peers& peers,
                                                    int line) const {
  const std::vector<Variable>& variables = options_.groups[group_of(local)].variables;
  const auto columns = os::terminal_columns(os::kStdout);
  if (!is_rank(local)) {
    const EvaluatorContract contract{.index = index_of(local),
                                     .tf_config = tf_config_of_evaluator(peers, index_of(local)),
                                     .terminal_columns = columns};
    return environment_of_evaluator(context_.environment, variables, contract);
  }
  RankContract contract = contract_of(share_, local, peers, provision_);
  contract.rendezvous_fd = line;
  contract.terminal_columns = columns;
  return make_environment(context_.environment, variables, contract);
}

os::ProcessPlan LocalRanks::plan_of(std::size_t local, const Peers& peers, int line) const {
  const std::size_t group = group_of(local);
  const bool is_first = is_rank(local) && share_.ranks[local] == 0;
  os::ProcessPlan process;
  process.program = context_.program_paths[group];
  process.arguments = options_.groups[group].program;
  process.environment = environment_of(local, peers, line);
  process.working_directory = options_.groups[group].working_directory;
  // Two readers of one input would each get a part of it.
  process.standard_input = is_first && context_.has_input ? kStdin : null_.get();
  process.kept_fd = line;
  if (is_rank(local)) process.cpus = share_.places[local];
  process.signals = signals_.state_at_start();
  process.open_file_limit = context_.open_file_limit;
  return process;
}

std::optional<base::TimePoint> LocalRanks::next_look() const {
  return mpi_watch_ ? mpi_watch_->next_look() : std::nullopt;
}

void LocalRanks::look(base::TimePoint now) {
  if (next_look().value_or(base::TimePoint::max()) > now) return;
  const std::string warning =
      mpi_watch_->look(now, [] { return os::descendants_of(os::own_process()); });
  if (!warning.empty()) household_.say("warning: " + warning);
}

}  // namespace rota::launcher

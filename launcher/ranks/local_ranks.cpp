// Starts the ranks and evaluators of one world on this host, each with its own environment, cores
// and standard input.
#include "launcher/ranks/local_ranks.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/ranks/heartbeat.h"
#include "launcher/ranks/mpi_service.h"
#include "launcher/ranks/rank_environment.h"
#include "os/host.h"
#include "os/output.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

constexpr int kStdin = 0;

// How long an MPI server may take to start. It takes a tenth of a second on an idle machine.
constexpr std::chrono::seconds kMpiStartTime{30};

// How long an MPI server may take to tell what a rank did whose process has ended.
constexpr std::chrono::seconds kMpiLateTime{10};

// How long other hosts go without a sign of life, at most, while the ranks here start.
constexpr std::chrono::milliseconds kLifeTime{100};

// Returns a watch for MPI libraries. Ranks that an MPI launcher has started are not watched. A rank
// that is alone is not watched either. Nor are ranks for which somebody has chosen: the watch sees
// processes, and not to which program they belong.
std::optional<MpiWatch> watch_for_mpi(const Options& options, const RunContext& context,
                                      const HostAssignment& assignment) {
  const bool is_known = mpi_view_of(assignment.ranks.size(), assignment.world_size,
                                    context.environment) != MpiView::kNothing;
  const bool is_chosen =
      std::ranges::any_of(options.groups,
                          [](const Group& group) {
                            return group.mpi != MpiChoice::kAuto && !group.is_evaluator;
                          }) ||
      std::ranges::any_of(context.mpi, [](MpiKind kind) { return kind != MpiKind::kNone; });
  if (is_chosen || options.preflight || is_known) return std::nullopt;
  return MpiWatch(base::Clock::now());
}

}  // namespace

LocalRanks::LocalRanks(const Options& options, const RunContext& context, os::SignalWatch& signals,
                       HostAssignment assignment, Provision provision, LocalProcesses& processes)
    : options_(options),
      context_(context),
      signals_(signals),
      assignment_(std::move(assignment)),
      provision_(std::move(provision)),
      processes_(processes),
      null_(os::open_null()),
      mpi_watch_(watch_for_mpi(options, context, assignment_)) {
  processes_.begin(assignment_);
  for (const std::string& warning : provision_.warnings) processes_.say("warning: " + warning);
}

std::size_t LocalRanks::group_of(std::size_t local) const {
  return is_rank(local) ? assignment_.groups[local] : assignment_.evaluators[index_of(local)];
}

void LocalRanks::start_all(const Peers& peers, const OpenConnection& open_connection,
                           const ShowLife& show_life) {
  if (options_.report_bindings) {
    for (const std::string& line : describe_bindings(assignment_, os::host_name()))
      processes_.say(line);
  }
  if (mpi_server_) wait_for_mpi(show_life);
  const std::size_t count = assignment_.ranks.size() + assignment_.evaluators.size();
  for (std::size_t local = 0; local < count && !signals_.has_request(); ++local) {
    try {
      beat();
      show_life();
      const os::Fd connection = is_rank(local) ? open_connection(local) : os::Fd();
      const MpiOutfit outfit = outfit_of(local);
      processes_.start(local, plan_of(local, peers, connection.get(), outfit));
    } catch (const Error& error) {
      return processes_.give_up(local, error.what());
    }
  }
}

MpiOutfit LocalRanks::outfit_of(std::size_t local) {
  const bool is_served =
      mpi_server_ && is_rank(local) && mpi_rank_of(mpi_plan_, assignment_.ranks[local]);
  if (!is_served) return {};
  MpiOutfit outfit = mpi_server_->outfit_of(local);
  const std::vector<std::string> numbers = number_variables(mpi_plan_, assignment_, local);
  outfit.variables.insert(outfit.variables.end(), numbers.begin(), numbers.end());
  return outfit;
}

// Waits until the MPI server can give the ranks their outfits. Gives up after kMpiStartTime, and
// once a signal asks for the job's end.
void LocalRanks::wait_for_mpi(const ShowLife& show_life) {
  const base::TimePoint end = base::Clock::now() + kMpiStartTime;
  os::PollSet polls;
  while (!mpi_server_->is_ready() && !signals_.has_request()) {
    const base::TimePoint now = base::Clock::now();
    if (now >= end) return;
    show_life();
    polls.clear();
    polls.add(signals_.fd(), true, false);
    mpi_server_->add_to(polls);
    wait_beating(polls, std::min(end, now + kLifeTime));
    mpi_server_->handle(polls, base::Clock::now());
  }
}

std::vector<std::string> LocalRanks::environment_of(std::size_t local, const Peers& peers,
                                                    int connection, const MpiOutfit& outfit) const {
  const std::vector<Variable>& variables = options_.groups[group_of(local)].variables;
  const auto columns = os::terminal_columns(os::kStdout);
  if (!is_rank(local)) {
    const EvaluatorContract contract{.index = index_of(local),
                                     .tf_config = tf_config_of_evaluator(peers, index_of(local)),
                                     .terminal_columns = columns};
    return environment_of_evaluator(context_.environment, variables, contract);
  }
  RankContract contract = contract_of(assignment_, local, peers, provision_);
  contract.rendezvous_fd = connection;
  contract.mpi_variables = outfit.variables;
  if (!context_.mpi_libraries.empty()) {
    contract.mpi_library = context_.mpi_libraries[group_of(local)];
  }
  contract.shares_devices = options_.share_devices;
  if (assignment_.host_count > 1) contract.ports = base::to_text(options_.ports);
  contract.terminal_columns = columns;
  return make_environment(context_.environment, variables, contract);
}

os::ProcessPlan LocalRanks::plan_of(std::size_t local, const Peers& peers, int connection,
                                    const MpiOutfit& outfit) const {
  const std::size_t group = group_of(local);
  const bool is_first = is_rank(local) && assignment_.ranks[local] == 0;
  os::ProcessPlan process;
  process.program = context_.program_paths[group];
  process.arguments = options_.groups[group].program;
  process.environment = environment_of(local, peers, connection, outfit);
  process.working_directory = options_.groups[group].working_directory;
  // Only one rank gets the input: two readers would each get a part of it.
  process.standard_input = is_first && context_.has_input ? kStdin : null_.get();
  if (connection >= 0) process.kept_fds.push_back(connection);
  if (outfit.kept_fd) process.kept_fds.push_back(outfit.kept_fd.get());
  if (is_rank(local)) process.cpus = assignment_.places[local];
  process.signals = signals_.state_at_start();
  process.open_file_limit = context_.open_file_limit;
  return process;
}

void LocalRanks::serve_mpi(const MpiPlan& plan) {
  for (std::size_t local = 0; local < assignment_.ranks.size(); ++local) {
    const std::size_t rank = assignment_.ranks[local];
    const MpiKind planned = mpi_rank_of(plan, rank) ? plan.kind : MpiKind::kNone;
    const std::size_t group = assignment_.groups[local];
    const MpiKind found = group < context_.mpi.size() ? context_.mpi[group] : MpiKind::kNone;
    if (found == planned) continue;
    throw UsageError("the program of rank " + std::to_string(rank) + " has " +
                     std::string(name_of(found)) + " here, but " + std::string(name_of(planned)) +
                     " on the host that leads the job: install the same program on all hosts, or "
                     "choose with --mpi");
  }
  if (plan.kind == MpiKind::kNone) return;
  mpi_plan_ = plan;
  std::vector<std::vector<std::string>> environments;
  for (const Group& group : options_.groups) {
    environments.push_back(make_environment(context_.environment, group.variables, {}));
  }
  mpi_server_ = make_mpi_server(plan, assignment_,
                                {.environment = context_.environment,
                                 .group_environments = std::move(environments),
                                 .signals = signals_.state_at_start(),
                                 .folders = context_.mpi_folders,
                                 .facts = {.is_crowded = provision_.is_crowded,
                                           .has_fabric = has_fabric(),
                                           .address = provision_.address}});
}

void LocalRanks::add_to(os::PollSet& polls) {
  if (mpi_server_) mpi_server_->add_to(polls);
}

std::vector<JobEvent> LocalRanks::hear_mpi(const os::PollSet& polls, base::TimePoint now) {
  if (!mpi_server_) return {};
  mpi_server_->handle(polls, now);
  std::vector<JobEvent> events = take_mpi_events();
  release_ends(now, events);
  return events;
}

std::vector<JobEvent> LocalRanks::catch_up(std::size_t rank, base::TimePoint now) {
  const auto own = std::ranges::find(assignment_.ranks, rank);
  if (!mpi_server_ || own == assignment_.ranks.end()) return {};
  mpi_server_->catch_up(static_cast<std::size_t>(own - assignment_.ranks.begin()), now);
  return take_mpi_events();
}

bool LocalRanks::hold(const JobEvent& end, base::TimePoint now) {
  const auto own = std::ranges::find(assignment_.ranks, end.rank);
  if (!mpi_server_ || own == assignment_.ranks.end()) return false;
  const auto local = static_cast<std::size_t>(own - assignment_.ranks.begin());
  const bool is_success = end.kind == JobEvent::Kind::kRankExited && end.value == 0;
  if (is_success && !mpi_server_->has_heard_all(local) && once_held_.insert(local).second) {
    held_ends_.push_back({.event = end, .local = local, .until = now + kMpiLateTime});
    return true;
  }
  mpi_server_->on_end(local);
  return false;
}

void LocalRanks::release_ends(base::TimePoint now, std::vector<JobEvent>& events) {
  const auto may_end = [&](const HeldEnd& held) {
    return mpi_server_->has_heard_all(held.local) || now >= held.until;
  };
  for (HeldEnd& held : held_ends_) {
    if (may_end(held)) events.push_back(std::move(held.event));
  }
  std::erase_if(held_ends_, may_end);
}

void LocalRanks::end_fence(const FenceResult& result, base::TimePoint now) {
  if (mpi_server_) mpi_server_->end_fence(result, now);
}

void LocalRanks::take_letter(const MpiLetter& letter) {
  if (mpi_server_) mpi_server_->take_letter(letter);
}

std::vector<JobEvent> LocalRanks::take_mpi_events() {
  using Told = MpiEvent::Kind;
  std::vector<JobEvent> events;
  for (MpiEvent& told : mpi_server_->take_events()) {
    JobEvent event{.world = assignment_.world, .value = told.code, .text = std::move(told.text)};
    event.rank = assignment_.ranks[told.local_rank];
    event.kind = told.kind == Told::kConnected   ? JobEvent::Kind::kRankConnected
                 : told.kind == Told::kFinalized ? JobEvent::Kind::kRankFinalized
                 : told.kind == Told::kAborted   ? JobEvent::Kind::kRankAborted
                 : told.kind == Told::kWrote     ? JobEvent::Kind::kRankWroteLetter
                 : told.kind == Told::kFailed    ? JobEvent::Kind::kMpiFailed
                                                 : JobEvent::Kind::kRankFenced;
    if (told.kind == Told::kWrote) event.text = encode(told.letter);
    if (told.kind == Told::kFenced) {
      event.rank = told.share.arrived.front();
      limit_data(told.share);
      event.text = encode(told.share);
    }
    events.push_back(std::move(event));
  }
  return events;
}

std::optional<base::TimePoint> LocalRanks::next_deadline() const {
  auto next = mpi_watch_ ? mpi_watch_->next_look() : std::nullopt;
  if (mpi_server_) next = base::earlier(next, mpi_server_->next_deadline());
  for (const HeldEnd& held : held_ends_) {
    const bool is_due = mpi_server_->has_heard_all(held.local);
    next = base::earlier(next, is_due ? base::TimePoint() : held.until);
  }
  return next;
}

void LocalRanks::look(base::TimePoint now) {
  if (!mpi_watch_ || mpi_watch_->next_look().value_or(base::TimePoint::max()) > now) return;
  const std::string warning =
      mpi_watch_->look(now, [] { return os::descendants_of(os::own_process()); });
  if (!warning.empty()) processes_.say("warning: " + warning);
}

}  // namespace rota::launcher

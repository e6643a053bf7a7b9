// Starts rotarun-pmix, and translates between its messages, which know only ranks of the MPI world,
// and the events of the job.
#include "launcher/mpi/pmix/pmix_companion.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "cluster/environment.h"
#include "launcher/command/companions.h"
#include "launcher/command/exit_codes.h"
#include "os/file.h"
#include "os/message_socket.h"
#include "os/pipe.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

constexpr const char* kProgram = "rotarun-pmix";
constexpr unsigned kCodesOfProcess = 256;

// Returns the environment of the server: without the variables by which another PMIx server knows
// rotarun, but with its settings.
std::vector<std::string> server_environment(const PmixCompanion::Surroundings& surroundings) {
  std::vector<std::string> own;
  std::ranges::copy_if(surroundings.environment, std::back_inserter(own),
                       [](const std::string& variable) {
                         return !variable.starts_with("PMIX_") || variable.starts_with("PMIX_MCA_");
                       });
  const auto set = [&](const std::string& name, const std::string& value) {
    if (!cluster::is_set(own, name)) own.push_back(name + "=" + value);
  };
  // libpmix would tell of the lost connection of a rank only after a second.
  set("PMIX_MCA_pmix_event_caching_window", "0");
  // The server describes the machine to the ranks. hwloc's plugins look for graphics cards, at ten
  // X servers among others, which Open MPI does not ask for, and for the PCI devices of a fabric.
  if (!surroundings.facts.has_fabric) set("HWLOC_PLUGINS_PATH", "/dev/null");
  return own;
}

// Describes the job to the server. Only nodes with ranks of the MPI world are in it. `own_rank`: a
// rank of this host in that world.
PmixJob job_of(const MpiPlan& plan, std::size_t own_rank) {
  PmixJob job{.name = plan.name};
  std::map<std::uint32_t, PmixNode> nodes;
  for (std::size_t rank = 0; rank < plan.world.size(); ++rank) {
    const std::uint32_t node = plan.world[rank].node;
    const auto [found, is_new] = nodes.try_emplace(node);
    if (is_new && node < plan.node_names.size()) found->second.name = plan.node_names[node];
    found->second.ranks.push_back(static_cast<std::uint32_t>(rank));
  }
  const std::uint32_t own_node = plan.world[own_rank].node;
  for (auto& [node, described] : nodes) {
    if (node == own_node) job.own_node = static_cast<std::uint32_t>(job.nodes.size());
    job.nodes.push_back(std::move(described));
  }
  return job;
}

PmixLink start_server(const std::string& path, const PmixCompanion::Surroundings& surroundings) {
  auto [ours, theirs] = os::make_message_socket_pair();
  const os::Fd null = os::open_null();
  os::ProcessPlan plan;
  plan.program = path;
  plan.arguments = {kProgram, std::to_string(theirs.get())};
  plan.environment = server_environment(surroundings);
  plan.standard_input = null.get();
  plan.kept_fds = {theirs.get()};
  plan.signals = surroundings.signals;
  plan.own_session = true;  // Ctrl-C is for rotarun.
  os::start_process(plan);
  return PmixLink(std::move(ours));
}

}  // namespace

PmixCompanion::PmixCompanion(const MpiPlan& plan, const HostAssignment& assignment,
                             Surroundings surroundings)
    : plan_(plan),
      ranks_(assignment.ranks),
      groups_(assignment.groups),
      is_in_world_(assignment.ranks.size()),
      link_(os::Fd()) {
  for (std::size_t local = 0; local < ranks_.size(); ++local) {
    is_in_world_[local] = mpi_rank_of(plan, ranks_[local]).has_value();
  }
  rank_count_ = static_cast<std::size_t>(std::ranges::count(is_in_world_, true));
  running_ = is_in_world_;
  connected_.resize(ranks_.size());
  if (rank_count_ == 0) return;
  if (!is_installed()) throw Error(ErrorCode::kSystem, absence());
  surroundings.folders->make();
  link_ = start_server(companion_path(kProgram), surroundings);
  PmixJob job = job_of(plan, *mpi_rank_of(plan, ranks_[first_in_world()]));
  for (std::size_t local = 0; local < ranks_.size(); ++local) {
    if (is_in_world_[local]) job.programs.push_back(static_cast<std::uint32_t>(groups_[local]));
  }
  job.folder = surroundings.folders->folder();
  job.memory_folder = surroundings.folders->memory_folder();
  job.user = os::own_user();
  job.group = os::own_group();
  name_ = std::string(kProgram) + ", the PMIx server of " + job.nodes[job.own_node].name + ",";
  link_.send({.type = PmixMessageType::kJob, .text = encode(job)});
  link_.send_all();
  surroundings.facts.memory_folder = surroundings.folders->memory_folder();
  for (std::vector<std::string>& environment : surroundings.group_environments) {
    const std::vector<std::string> files = settings_in_files(environment);
    environment.insert(environment.end(), files.begin(), files.end());
    settings_.push_back(open_mpi_variables(surroundings.facts, environment));
  }
}

bool PmixCompanion::is_installed() {
  std::error_code ignored;
  return std::filesystem::exists(companion_path(kProgram), ignored);
}

std::string PmixCompanion::absence() {
  return "rotarun itself serves Open MPI with " + companion_path(kProgram) +
         ", which does not exist: build rota where PMIx is installed, on Debian the package "
         "libpmix-dev";
}

bool PmixCompanion::is_ready() const {
  return variables_.size() == rank_count_ || !failure_.empty();
}

MpiOutfit PmixCompanion::outfit_of(std::size_t local_rank) {
  const auto mpi_rank = mpi_rank_of(plan_, ranks_[local_rank]);
  if (!mpi_rank) return {};
  const auto found = variables_.find(static_cast<std::uint32_t>(*mpi_rank));
  if (found == variables_.end()) {
    throw Error(ErrorCode::kSystem, failure_.empty() ? name_ + " does not start" : failure_);
  }
  MpiOutfit outfit{.variables = found->second};
  const std::vector<std::string>& settings = settings_[groups_[local_rank]];
  outfit.variables.insert(outfit.variables.end(), settings.begin(), settings.end());
  return outfit;
}

void PmixCompanion::add_to(os::PollSet& polls) {
  if (link_.is_open()) link_.add_to(polls);
}

void PmixCompanion::handle(const os::PollSet& /*polls*/, base::TimePoint /*now*/) {
  link_.send_all();
  hear();
}

void PmixCompanion::catch_up(std::size_t /*local_rank*/, base::TimePoint /*now*/) { hear(); }

// The server passes on what a rank says before it answers the rank. But in MPI_Finalize, libpmix
// waits 2 s for the answer, and then goes on without it. If the server gets no CPU meanwhile, the
// process ends before the server has told that it finalized.
bool PmixCompanion::has_heard_all(std::size_t local_rank) const {
  return !connected_[local_rank] || !link_.is_open();
}

// Ends the server with the last rank.
void PmixCompanion::on_end(std::size_t local_rank) {
  running_[local_rank] = false;
  if (std::ranges::find(running_, true) == running_.end()) link_.close();
}

void PmixCompanion::end_fence(const FenceResult& result, base::TimePoint /*now*/) {
  auto fence = decode_pmix_fence(result.key);
  if (!fence) return;
  fence->data = result.data;
  link_.send({.type = PmixMessageType::kFenced, .text = encode(*fence)});
  link_.send_all();
}

std::vector<MpiEvent> PmixCompanion::take_events() { return std::exchange(events_, {}); }

std::optional<std::size_t> PmixCompanion::local_rank_of(std::uint32_t mpi_rank) const {
  if (mpi_rank >= plan_.world.size()) return std::nullopt;
  const auto found = std::ranges::find(ranks_, plan_.world[mpi_rank].rank);
  if (found == ranks_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ranks_.begin());
}

void PmixCompanion::hear() {
  if (!link_.is_open()) return;
  for (const PmixMessage& message : link_.receive()) on_message(message);
  if (link_.is_open()) return;
  const bool has_begun = variables_.size() == rank_count_;
  if (failure_.empty() && has_begun) {
    failure_ = name_ + " was killed, or has failed, while ranks needed it";
  }
  if (failure_.empty()) {
    failure_ = name_ +
               " has ended; if it said that it cannot load libpmix.so.2, install PMIx (Debian's "
               "package libpmix2)";
  }
  events_.push_back({.kind = MpiEvent::Kind::kFailed,
                     .local_rank = first_in_world(),
                     .code = has_begun ? kExitSilent : kExitCannotRun,
                     .text = failure_});
}

void PmixCompanion::on_message(const PmixMessage& message) {
  const auto local = local_rank_of(message.rank);
  const auto report = [&](MpiEvent::Kind kind) {
    if (local) events_.push_back({.kind = kind, .local_rank = *local});
  };
  switch (message.type) {
    case PmixMessageType::kEnvironment:
      if (auto variables = decode_variables(message.text); variables && local) {
        variables_[message.rank] = *std::move(variables);
      }
      return;
    case PmixMessageType::kConnected:
      if (local) connected_[*local] = true;
      return report(MpiEvent::Kind::kConnected);
    case PmixMessageType::kFinalized:
      if (local) connected_[*local] = false;
      return report(MpiEvent::Kind::kFinalized);
    case PmixMessageType::kLost:
      if (local) connected_[*local] = false;
      return;
    case PmixMessageType::kAborted:
      if (!local) return;
      events_.push_back(
          {.kind = MpiEvent::Kind::kAborted,
           .local_rank = *local,
           .code = static_cast<int>(static_cast<unsigned>(message.value) % kCodesOfProcess),
           .text = "MPI_Abort, or an error in MPI, with code " + std::to_string(message.value)});
      return;
    case PmixMessageType::kFence:
      return on_fence(message);
    case PmixMessageType::kWanted:
      return ask(message);
    case PmixMessageType::kFound:
    case PmixMessageType::kMissing:
      return answer(message);
    case PmixMessageType::kFailed:
      failure_ = name_ + " failed: " + message.text;
      return;
    default:
      return;
  }
}

// Asks the host of a rank for the rank's data.
void PmixCompanion::ask(const PmixMessage& question) {
  if (question.rank < plan_.world.size()) {
    return write(plan_.world[question.rank].rank, question);
  }
  link_.send({.type = PmixMessageType::kMissing, .value = question.value});
  link_.send_all();
}

// Answers the host that has asked.
void PmixCompanion::answer(PmixMessage message) {
  const auto found = requests_.find(message.value);
  if (found == requests_.end()) return;
  const auto [to, number] = found->second;
  requests_.erase(found);
  message.value = number;
  write(to, message);
}

void PmixCompanion::write(std::uint32_t to, const PmixMessage& message) {
  const std::size_t local = first_in_world();
  events_.push_back({.kind = MpiEvent::Kind::kWrote,
                     .local_rank = local,
                     .letter = {.from = static_cast<std::uint32_t>(ranks_[local]),
                                .to = to,
                                .text = base::text_of(encode(message))}});
}

std::size_t PmixCompanion::first_in_world() const {
  return static_cast<std::size_t>(std::ranges::find(is_in_world_, true) - is_in_world_.begin());
}

void PmixCompanion::take_letter(const MpiLetter& letter) {
  auto message = decode_pmix_message(std::as_bytes(std::span(letter.text)));
  if (!message) return;
  if (message->type == PmixMessageType::kWanted) {
    requests_[next_number_] = {letter.from, message->value};
    message->value = next_number_++;
  } else if (message->type != PmixMessageType::kFound &&
             message->type != PmixMessageType::kMissing) {
    return;
  }
  link_.send(*message);
  link_.send_all();
}

// The server sends a fence once all its ranks on this host have arrived.
void PmixCompanion::on_fence(const PmixMessage& message) {
  auto fence = decode_pmix_fence(message.text);
  if (!fence) return;
  FenceShare share{.data = std::exchange(fence->data, {})};
  share.key = encode(*fence);
  for (const std::uint32_t rank : fence->ranks) {
    if (rank >= plan_.world.size()) return;
    share.members.push_back(plan_.world[rank].rank);
  }
  for (std::uint32_t rank = 0; rank < plan_.world.size(); ++rank) {
    const bool is_member = fence->ranks.empty() || std::ranges::binary_search(fence->ranks, rank);
    if (is_member && local_rank_of(rank)) share.arrived.push_back(plan_.world[rank].rank);
  }
  if (share.arrived.empty()) return;
  const auto local = std::ranges::find(ranks_, share.arrived.front());
  events_.push_back({.kind = MpiEvent::Kind::kFenced,
                     .local_rank = static_cast<std::size_t>(local - ranks_.begin()),
                     .share = std::move(share)});
}

}  // namespace rota::launcher

// Asks the sources in their order, and compares what they say.
#include "cluster/reading.h"

#include <algorithm>
#include <array>
#include <span>

#include <rota/error.h>

#include "cluster/contradiction.h"
#include "cluster/host_names.h"
#include "cluster/unread_hosts.h"

namespace rota::cluster {
namespace {

using Source = std::optional<Specification> (*)(const Given&);

struct Row {
  std::string_view name;
  Source source;
};

constexpr Row kSources[] = {
    {"torchrun", from_torchrun},
    {"Open MPI", from_open_mpi},
    {"PMIx", from_pmix},
    {"PMI", from_pmi},
    {kSlurmStep, from_slurm_step},
    {"--host", from_host_list},
    {"--hostfile", from_hostfile},
    {"--worker_hosts", from_task_flags},
    {"ROTA_HOSTS", from_rota_hosts},
    {"TF_CONFIG", from_tf_config},
    {"Kubeflow Trainer", from_trainer},
    {"PyTorchJob", from_pytorch_job},
    {"JobSet", from_job_set},
    {"Indexed Job", from_indexed_job},
};

// The first sources are launchers that start processes as ranks.
constexpr std::size_t kLauncherCount = 5;
static_assert(kSources[kLauncherCount - 1].name == std::string_view(kSlurmStep));

constexpr Row kRooms[] = {
    {"Slurm allocation", from_slurm_allocation},
    {"PBS allocation", from_pbs},
    {"LSF allocation", from_lsf},
    {"SGE allocation", from_sge},
};

// rota asks for the pod's name only if all other sources, the allocations included, say nothing.
constexpr Row kPodName = {"StatefulSet", from_stateful_set};

void ask(const Row& row, const Given& given, std::vector<Statement>& statements) {
  try {
    auto specification = row.source(given);
    if (!specification) return;
    std::string name = specification->source;
    statements.push_back({.source = std::move(name), .specification = std::move(specification)});
  } catch (const Error& error) {
    statements.push_back({.source = std::string(row.name), .trouble = error.what()});
  }
}

Specification this_host(const Given& given) {
  Specification specification{.source = std::string(kThisHost)};
  specification.hosts.push_back({.name = given.host_name});
  specification.own_host = 0;
  return specification;
}

// Returns this host alone: because ROTA_* variables declare it so, or because nothing is declared.
Specification alone(const Given& given, const Declared& declared) {
  if (declared.host_count != std::size_t{1}) require_none_unread(given);
  if (declared.host_count.value_or(1) > 1) {
    refuse("ROTA_HOSTS is " + std::to_string(*declared.host_count) +
           ", but nothing says which of them this host, " + shown(given.host_name) +
           ", is: there is no JOB_COMPLETION_INDEX, and its name has no ordinal; name the hosts "
           "instead, as in ROTA_HOSTS=a:2,b:2");
  }
  Specification own = this_host(given);
  const auto name = [&](bool is_there, const std::string& variable) {
    if (is_there) own.source += own.source == kThisHost ? " by " + variable : ", " + variable;
  };
  name(declared.host_count.has_value(), "ROTA_HOSTS");
  name(declared.world_size.has_value(), "ROTA_WORLD");
  name(declared.slots.has_value(), "ROTA_SLOTS");
  return own;
}

// Adds to the chosen specification the values that only the other specification has.
void fill_from(const Specification& other, Specification& chosen) {
  if (!chosen.world_size && other.level == Level::kProcess && chosen.level == Level::kProcess) {
    chosen.world_size = other.world_size;
  }
  const bool are_hosts = chosen.level == Level::kHost && other.level == Level::kHost;
  if (!are_hosts || other.is_room) return;
  if (!chosen.own_host && !other.hosts.empty()) chosen.own_host = other.own_host;
  if (!chosen.epoch) chosen.epoch = other.epoch;
}

void require_host_count(const Specification& chosen) {
  if (chosen.level == Level::kProcess || !chosen.hosts.empty()) return;
  const std::string which =
      chosen.own_host ? "host " + std::to_string(*chosen.own_host) : "one of several hosts";
  refuse(chosen.source + " makes this " + which +
         ", but nothing says how many hosts there are: set ROTA_HOSTS to their number, even if it "
         "is 1");
}

// Gives this host a name if the source has none for this host. Puts the rendezvous at host 0 if the
// source has no rendezvous.
void finish(const Given& given, Specification& chosen) {
  const bool is_known = chosen.own_host && *chosen.own_host < chosen.hosts.size();
  if (is_known && chosen.level == Level::kHost && chosen.hosts[*chosen.own_host].name.empty()) {
    chosen.hosts[*chosen.own_host].name = given.host_name;
    chosen.is_own_name_private = true;
  }
  const bool has_first = ring_count(chosen) > 0 && !chosen.hosts[0].name.empty();
  if (!chosen.rendezvous && has_first && chosen.level == Level::kHost) {
    chosen.rendezvous =
        RendezvousEndpoint{.name = chosen.hosts[0].name, .port = chosen.hosts[0].port};
  }
}

// Ignores the environment in a rank and in an evaluator that rotarun has started. The rank gets its
// job from rotarun, the evaluator has none, and the variables were meant for rotarun itself.
Given without_ancestors(Given given) {
  const Environment& environment = given.environment;
  if (environment.has("ROTA_RENDEZVOUS_FD") || environment.has("ROTA_ROLE")) {
    given.environment = {};
    given.node_files.clear();
  }
  return given;
}

std::vector<Statement> hear(const Given& given) {
  std::vector<Statement> statements;
  for (const Row& row : kSources) ask(row, given, statements);
  std::vector<Statement> rooms;
  for (const Row& row : kRooms) ask(row, given, rooms);
  if (statements.empty() && rooms.empty()) ask(kPodName, given, statements);
  statements.insert(statements.end(), rooms.begin(), rooms.end());
  return statements;
}

}  // namespace

Reading read(const Given& all) {
  const Given given = without_ancestors(all);
  std::vector<Statement> statements = hear(given);
  for (const Statement& statement : statements) {
    if (!statement.trouble.empty()) refuse(statement.trouble);
  }
  const Declared declared = read_declared(given.environment);
  if (statements.empty()) {
    Specification own = alone(given, declared);
    const std::string name = own.source;
    statements.push_back({.source = name, .specification = std::move(own)});
  }
  for (std::size_t i = 0; i < statements.size(); ++i) {
    for (std::size_t j = i + 1; j < statements.size(); ++j) {
      const std::string text =
          contradiction_of(*statements[i].specification, *statements[j].specification);
      if (!text.empty()) refuse(text);
    }
    require_as_declared(*statements[i].specification, declared);
  }
  Specification chosen = *statements.front().specification;
  for (const Statement& other : std::span(statements).subspan(1)) {
    fill_from(*other.specification, chosen);
  }
  require_host_count(chosen);
  add_declared(declared, chosen);
  if (chosen.level == Level::kHost) require_fitting(chosen);
  finish(given, chosen);
  return {.chosen = std::move(chosen), .statements = std::move(statements)};
}

bool is_started_as_rank(const Given& all) {
  const Given given = without_ancestors(all);
  std::vector<Statement> statements;
  for (const Row& row : std::span(kSources).first(kLauncherCount)) ask(row, given, statements);
  return !statements.empty();
}

std::string explain(const Given& all) {
  const Given given = without_ancestors(all);
  const std::vector<Statement> statements = hear(given);
  std::string text;
  std::string others;
  for (const Statement& statement : statements) {
    others += "  " + statement.source + ": " +
              (statement.specification ? to_text(*statement.specification) : statement.trouble) +
              "\n";
  }
  std::string remarks;
  try {
    const Reading reading = read(given);
    text = "decided by " + reading.chosen.source + ": " + to_text(reading.chosen) + "\n";
    for (const Statement& statement : reading.statements) {
      for (const std::string& remark : statement.specification->remarks) {
        remarks += "note: " + remark + "\n";
      }
    }
    if (statements.empty()) return text + "nothing else says anything\n" + remarks;
    if (statements.size() == 1) return text + "no other source says anything\n" + remarks;
  } catch (const Error& error) {
    text = "undecided: " + std::string(error.what()) + "\n";
    if (statements.empty()) return text;
  }
  return text + "all sources, in order of precedence:\n" + others + remarks;
}

}  // namespace rota::cluster

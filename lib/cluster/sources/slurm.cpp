// Reads the variables of Slurm. Inside a step, the variables describe this task. In an allocation
// without a step (a batch script, or salloc's shell), they describe the nodes that may be used.
#include <array>
#include <numeric>

#include "cluster/one_rank.h"
#include "cluster/pods.h"
#include "cluster/sources.h"
#include "cluster/sources/slurm_lists.h"
#include "cluster/sources/slurm_step.h"

namespace rota::cluster {
namespace {

// From this number on, a step ID means something else, such as the batch script itself.
constexpr std::size_t kFirstSpecialStep = 0xfffffff0;

// Finds the first of the given variables that is set. Callers name the variable of the step first,
// and then the variable of the job.
struct Found {
  std::string name;
  std::string value;
};
std::optional<Found> find_first(const Environment& environment,
                                std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const std::string* value = environment.find(name)) return Found{name, *value};
  }
  return std::nullopt;
}

// Reads the nodes. The slots of each node are its number of tasks.
std::vector<Host> read_nodes(const Environment& environment, bool is_step) {
  const char* own_list = is_step ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  const char* own_counts = is_step ? "SLURM_STEP_TASKS_PER_NODE" : "SLURM_TASKS_PER_NODE";
  const char* own_number = is_step ? "SLURM_STEP_NUM_NODES" : "SLURM_JOB_NUM_NODES";
  const auto list = find_first(environment, {own_list, "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  const auto counts = find_first(environment, {own_counts, "SLURM_TASKS_PER_NODE"});
  const auto number = find_first(environment, {own_number, "SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  std::vector<Host> hosts;
  if (list) {
    for (std::string& name : expand_node_list(list->name, list->value)) {
      hosts.push_back({.name = std::move(name)});
    }
  }
  if (number) {
    const std::size_t count = to_number(number->name, number->value, kAnyRankCount);
    if (list && hosts.size() != count) {
      refuse(number->name + " is " + std::to_string(count) + ", but " + list->name + " is " +
             shown(list->value) + ", which names " + std::to_string(hosts.size()));
    }
    hosts.resize(count);
  }
  if (!counts || hosts.empty()) return hosts;
  const std::vector<std::size_t> tasks = expand_counts(counts->name, counts->value);
  if (tasks.size() != hosts.size()) {
    refuse(counts->name + " is " + shown(counts->value) + ", for " + std::to_string(tasks.size()) +
           " nodes, but the number of nodes is " + std::to_string(hosts.size()));
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].slots = tasks[i];
  return hosts;
}

void require_sum(const Specification& specification, const std::string& name) {
  std::size_t sum = 0;
  for (const Host& host : specification.hosts) {
    if (!host.slots) return;
    sum += *host.slots;
  }
  if (specification.hosts.empty() || sum == *specification.world_size) return;
  refuse(name + " is " + std::to_string(*specification.world_size) + ", but the nodes have " +
         std::to_string(sum) + " tasks in total");
}

Specification base_of(const std::string& source, const Environment& environment) {
  Specification specification{.source = source};
  specification.epoch =
      environment.number("SLURM_RESTART_COUNT", {.least = 0, .most = kMaxOrdinal});
  const auto job = find_first(environment, {"SLURM_JOB_ID", "SLURM_JOBID"});
  if (job) specification.job_id = job->value;
  return specification;
}

// With one task on each node, the task is rotarun itself, or a launcher such as torchrun. It starts
// as many ranks as the node has room for.
void make_host_level(Specification& specification) {
  specification.level = Level::kHost;
  specification.world_size.reset();
  specification.rank.reset();
  specification.local_rank.reset();
  for (Host& host : specification.hosts) host.slots.reset();
}

// Returns whether a launcher that runs inside the step has made this process a rank.
bool is_rank_of_another(const Given& given) {
  return from_torchrun(given) || from_open_mpi(given) || from_pmix(given) || from_pmi(given);
}

// Finds this node. A node's name in Slurm may differ from its host name. In the batch script,
// SLURMD_NODENAME is the node's name in Slurm.
std::optional<std::size_t> find_own(const std::vector<Host>& nodes, const Given& given) {
  const std::string* name = given.environment.find("SLURMD_NODENAME");
  const auto own = name ? find_host(nodes, *name, {}) : std::nullopt;
  return own ? own : find_host(nodes, given.host_name, given.host_addresses);
}

// Returns whether the job has several components. A batch script gets the variables of the first
// component only, and salloc's shell gets none of them.
bool is_heterogeneous(const Environment& environment) {
  for (const char* name : {"SLURM_HET_SIZE", "SLURM_PACK_SIZE"}) {
    if (environment.number(name, kAnyRankCount).value_or(1) > 1) return true;
  }
  return false;
}

}  // namespace

bool is_in_step(const Environment& environment) {
  constexpr std::size_t kMost = 0xffffffff;
  const auto step = environment.number("SLURM_STEP_ID", {.least = 0, .most = kMost});
  return step && *step < kFirstSpecialStep;
}

bool is_own_step(const Environment& environment, std::string_view job_name) {
  if (!is_in_step(environment)) return false;
  const auto job = find_first(environment, {"SLURM_JOB_ID", "SLURM_JOBID"});
  if (!job) return false;
  const std::string step = job->value + "." + environment.text("SLURM_STEP_ID");
  return job_name == step || job_name == "slurm.pmix." + step;
}

bool is_own_pmi(const Environment& environment) {
  return is_own_step(environment, environment.text("PMI_JOBID")) &&
         !environment.has("MPI_LOCALNRANKS");
}

std::optional<Specification> from_slurm_step(const Given& given) {
  const Environment& environment = given.environment;
  if (!is_in_step(environment)) return std::nullopt;
  constexpr const char* kWhy = "but SLURM_STEP_ID is set: srun sets both";
  Specification specification = base_of(kSlurmStep, environment);
  specification.level = Level::kProcess;
  const auto count =
      find_first(environment, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"});
  if (!count) refuse("SLURM_NTASKS is not set, " + std::string(kWhy));
  specification.world_size = to_number(count->name, count->value, kAnyRankCount);
  specification.rank = environment.needed_number("SLURM_PROCID", kAnyRank, kWhy);
  require_among("SLURM_PROCID", *specification.rank, count->name, *specification.world_size);
  specification.local_rank = environment.number("SLURM_LOCALID", kAnyRank);
  specification.hosts = read_nodes(environment, true);
  specification.own_host = environment.number("SLURM_NODEID", kAnyRank);
  require_sum(specification, count->name);
  if (specification.hosts.empty()) return specification;
  require_reachable(specification);
  if (specification.own_host) {
    require_among("SLURM_NODEID", *specification.own_host, "the number of nodes",
                  specification.hosts.size());
    specification.local_world_size = specification.hosts[*specification.own_host].slots;
  }
  const bool is_one_each = specification.hosts.size() == *specification.world_size;
  if (is_one_each && (given.asker == Asker::kLauncher || is_rank_of_another(given))) {
    make_host_level(specification);
  }
  return specification;
}

std::optional<Specification> from_slurm_allocation(const Given& given) {
  const Environment& environment = given.environment;
  const bool is_there = environment.has("SLURM_JOB_NODELIST") || environment.has("SLURM_NODELIST");
  if (!is_there || is_in_step(environment) || is_heterogeneous(environment)) return std::nullopt;
  Specification specification = base_of("Slurm allocation", environment);
  specification.is_room = true;
  specification.has_srun = true;
  specification.hosts = read_nodes(environment, false);
  require_reachable(specification);
  specification.own_host = find_own(specification.hosts, given);
  return specification;
}

}  // namespace rota::cluster

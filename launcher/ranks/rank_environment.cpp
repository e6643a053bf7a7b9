// Makes the environment that a rank or an evaluator starts with, from rotarun's own and from the
// job.
#include "launcher/ranks/rank_environment.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "cluster/environment.h"

namespace rota::launcher {
namespace {

using Environment = std::vector<std::string>;

// A launcher that has started rotarun tells rotarun its rank by variables with these names. A rank
// that read these variables would take itself for another rank, or connect to a server that does
// not expect it.
constexpr auto kStemsOfMpi =
    std::to_array<std::string_view>({"OMPI_COMM_WORLD_", "OMPI_MCA_ess", "OMPI_MCA_orte_", "PMI_",
                                     "PMIX_", "SLURM_SRUN_COMM_", "SLURM_STEP_"});
constexpr auto kNamesOfMpi = std::to_array<std::string_view>(
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "OMPI_APP_CTX_NUM_PROCS", "OMPI_FIRST_RANKS",
     "OMPI_MCA_pmix", "OMPI_NUM_APP_CTX", "SLURM_GTIDS", "SLURM_LOCALID", "SLURM_NODEID",
     "SLURM_NPROCS", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_STEPID", "SLURM_TASKS_PER_NODE",
     "SLURM_TASK_PID"});
constexpr std::string_view kStemOfTorchrun = "TORCHELASTIC_";
constexpr auto kNamesOfOthers = std::to_array<std::string_view>(
    {"MASTER_ADDR", "MASTER_PORT", "ROLE_NAME", "ROLE_RANK", "ROLE_WORLD_SIZE", "TF_CONFIG"});

// The variables that make a process a rank, by the names that rotarun uses for them.
constexpr auto kOfRanks = std::to_array<std::string_view>(
    {"GROUP_RANK", "GROUP_WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "OMPI_UNIVERSE_SIZE",
     "RANK", "ROTA_LOCAL_RANK", "ROTA_LOCAL_WORLD_SIZE", "ROTA_MPI_LIBRARY", "ROTA_RANK",
     "ROTA_RENDEZVOUS_FD", "ROTA_WORLD_SIZE", "WORLD_SIZE"});

bool is_of(std::string_view entry, std::string_view name) {
  return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
}

bool is_of_mpi(std::string_view entry) {
  if (entry.starts_with("PMIX_MCA_")) return false;  // A setting, not a rank.
  return std::ranges::any_of(kStemsOfMpi, [&](auto stem) { return entry.starts_with(stem); }) ||
         std::ranges::any_of(kNamesOfMpi, [&](auto name) { return is_of(entry, name); });
}

bool is_of_others(std::string_view entry) {
  return entry.starts_with(kStemOfTorchrun) ||
         std::ranges::any_of(kNamesOfOthers, [&](auto name) { return is_of(entry, name); });
}

// Returns whether an MPI launcher waits for one process here to join its world.
bool is_expected_by_mpi(const Environment& environment) {
  return cluster::is_set(environment, "PMIX_RANK") || cluster::is_set(environment, "PMI_RANK");
}

// Returns whether the numbers that MPI launchers gave this process are right for the rank: each
// number that is set must agree.
bool is_same_rank(const Environment& base, const RankContract& contract) {
  const auto agrees = [&](std::string_view name, std::size_t value) {
    return !cluster::is_set(base, name) ||
           cluster::find_variable(base, name) == std::to_string(value);
  };
  return contract.is_only_one && is_expected_by_mpi(base) &&
         agrees("OMPI_COMM_WORLD_RANK", contract.rank) &&
         agrees("OMPI_COMM_WORLD_SIZE", contract.world_size) && agrees("PMI_RANK", contract.rank) &&
         agrees("PMI_SIZE", contract.world_size) && agrees("PMIX_RANK", contract.rank);
}

// Returns `base` without the variables in which other launchers describe this process.
Environment without_outer(const Environment& base, bool keeps_mpi) {
  Environment environment;
  std::ranges::copy_if(base, std::back_inserter(environment), [&](const std::string& entry) {
    return !is_of_others(entry) && (keeps_mpi || !is_of_mpi(entry));
  });
  return environment;
}

void unset(Environment& environment, std::string_view name) {
  std::erase_if(environment, [&](const std::string& entry) { return is_of(entry, name); });
}

void set(Environment& environment, std::string_view name, const std::string& value) {
  unset(environment, name);
  environment.push_back(std::string(name) + "=" + value);
}

// Sets the variables by the names that other programs know.
void tell_strangers(const RankContract& contract, Environment& environment) {
  const auto tell = [&](std::string_view name, std::size_t value) {
    set(environment, name, std::to_string(value));
  };
  tell("RANK", contract.rank);
  tell("WORLD_SIZE", contract.world_size);
  tell("LOCAL_RANK", contract.local_rank);
  tell("LOCAL_WORLD_SIZE", contract.local_world_size);
  tell("GROUP_RANK", contract.host_index);
  tell("GROUP_WORLD_SIZE", contract.host_count);
  tell("OMPI_COMM_WORLD_RANK", contract.rank);
  tell("OMPI_COMM_WORLD_SIZE", contract.world_size);
  tell("OMPI_COMM_WORLD_LOCAL_RANK", contract.local_rank);
  tell("OMPI_COMM_WORLD_LOCAL_SIZE", contract.local_world_size);
  tell("OMPI_COMM_WORLD_NODE_RANK", contract.local_rank);
  tell("OMPI_UNIVERSE_SIZE", contract.world_size);
  if (contract.first) {
    set(environment, "MASTER_ADDR", contract.first->host);
    tell("MASTER_PORT", contract.first->port);
  }
  if (!contract.tf_config.empty()) set(environment, "TF_CONFIG", contract.tf_config);
  if (!contract.device.empty()) set(environment, "CUDA_VISIBLE_DEVICES", contract.device);
  if (!cluster::is_set(environment, "OMP_NUM_THREADS"))
    tell("OMP_NUM_THREADS", contract.thread_count);
}

void apply(const std::vector<Variable>& variables, const Environment& base,
           Environment& environment) {
  for (const Variable& variable : variables) {
    if (variable.value) {
      set(environment, variable.name, *variable.value);
    } else {
      unset(environment, variable.name);
      if (cluster::is_set(base, variable.name)) {
        set(environment, variable.name, cluster::find_variable(base, variable.name));
      }
    }
  }
}

void tell_terminal(std::optional<int> columns, Environment& environment) {
  unset(environment, "ROTA_TERMINAL");
  if (columns) set(environment, "ROTA_TERMINAL", std::to_string(*columns));
}

}  // namespace

std::vector<std::string> make_environment(const std::vector<std::string>& base,
                                          const std::vector<Variable>& variables,
                                          const RankContract& contract) {
  const bool is_served = !contract.mpi_variables.empty();
  Environment environment = without_outer(base, !is_served && is_same_rank(base, contract));
  tell_strangers(contract, environment);
  for (const std::string& entry : contract.mpi_variables) {
    const std::size_t equals = entry.find('=');
    set(environment, entry.substr(0, equals), entry.substr(equals + 1));
  }
  unset(environment, "ROTA_MPI_LIBRARY");
  if (!contract.mpi_library.empty()) set(environment, "ROTA_MPI_LIBRARY", contract.mpi_library);
  if (contract.shares_devices) set(environment, "ROTA_SHARE_DEVICES", "1");
  apply(variables, base, environment);
  const auto tell = [&](std::string_view name, std::size_t value) {
    set(environment, name, std::to_string(value));
  };
  tell("ROTA_RANK", contract.rank);
  tell("ROTA_WORLD_SIZE", contract.world_size);
  tell("ROTA_LOCAL_RANK", contract.local_rank);
  tell("ROTA_LOCAL_WORLD_SIZE", contract.local_world_size);
  set(environment, "ROTA_RENDEZVOUS_FD", std::to_string(contract.rendezvous_fd));
  if (!contract.ports.empty()) set(environment, "ROTA_PORTS", contract.ports);
  for (const char* name : {"ROTA_ROLE", "ROTA_ROLE_INDEX"}) unset(environment, name);
  tell_terminal(contract.terminal_columns, environment);
  return environment;
}

std::vector<std::string> environment_of_evaluator(const std::vector<std::string>& base,
                                                  const std::vector<Variable>& variables,
                                                  const EvaluatorContract& contract) {
  Environment environment = without_outer(base, false);
  for (const std::string_view name : kOfRanks) unset(environment, name);
  if (!contract.tf_config.empty()) set(environment, "TF_CONFIG", contract.tf_config);
  apply(variables, base, environment);
  unset(environment, "ROTA_RENDEZVOUS_FD");
  set(environment, "ROTA_ROLE", "evaluator");
  set(environment, "ROTA_ROLE_INDEX", std::to_string(contract.index));
  tell_terminal(contract.terminal_columns, environment);
  return environment;
}

MpiView mpi_view_of(std::size_t ranks_here, std::size_t world_size,
                    const std::vector<std::string>& environment) {
  const auto agrees = [&](std::string_view name) {
    return !cluster::is_set(environment, name) ||
           cluster::find_variable(environment, name) == std::to_string(world_size);
  };
  const bool is_expected = ranks_here == 1 && is_expected_by_mpi(environment);
  if (is_expected && agrees("PMI_SIZE") && agrees("OMPI_COMM_WORLD_SIZE")) return MpiView::kWorld;
  return world_size > 1 ? MpiView::kNothing : MpiView::kAlone;
}

std::vector<std::string> unset_variables(const std::vector<std::string>& environment,
                                         const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) {
    if (!variable.value && !cluster::is_set(environment, variable.name))
      names.push_back(variable.name);
  }
  return names;
}

}  // namespace rota::launcher

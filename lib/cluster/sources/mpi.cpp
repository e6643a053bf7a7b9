// Reads the rank that an MPI launcher gives to each process: Open MPI's mpirun, PMI-1, PMIx.
#include "cluster/one_rank.h"
#include "cluster/sources.h"
#include "cluster/sources/slurm_step.h"

namespace rota::cluster {

std::optional<Specification> from_open_mpi(const Given& given) {
  constexpr RankNames kNames{.rank = "OMPI_COMM_WORLD_RANK",
                             .world_size = "OMPI_COMM_WORLD_SIZE",
                             .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
                             .local_world_size = "OMPI_COMM_WORLD_LOCAL_SIZE"};
  const Environment& environment = given.environment;
  if (!environment.has(kNames.rank) && !environment.has(kNames.world_size)) return std::nullopt;
  return read_rank("Open MPI", environment, kNames);
}

// PMI-1 is the set of variables of MPICH's mpiexec and of launchers derived from it.
std::optional<Specification> from_pmi(const Given& given) {
  constexpr RankNames kNames{.rank = "PMI_RANK",
                             .world_size = "PMI_SIZE",
                             .local_rank = "MPI_LOCALRANKID",
                             .local_world_size = "MPI_LOCALNRANKS"};
  const Environment& environment = given.environment;
  if (!environment.has(kNames.rank) && !environment.has(kNames.world_size)) return std::nullopt;
  if (is_own_pmi(environment)) return std::nullopt;
  return read_rank("PMI", environment, kNames);
}

// The environment has the rank and the job. Only the PMIx server knows the number of ranks.
std::optional<Specification> from_pmix(const Given& given) {
  const Environment& environment = given.environment;
  if (!environment.has("PMIX_RANK")) return std::nullopt;
  if (is_own_step(environment, environment.text("PMIX_NAMESPACE"))) return std::nullopt;
  Specification specification{.source = "PMIx", .level = Level::kProcess};
  specification.rank = environment.number("PMIX_RANK", {.least = 0, .most = kMaxRanks - 1});
  if (!environment.has("PMIX_NAMESPACE")) {
    refuse(
        "PMIX_RANK is set, but PMIX_NAMESPACE is not, and PMIx sets both: set both, or unset "
        "PMIX_RANK");
  }
  specification.job_id = environment.text("PMIX_NAMESPACE");
  return specification;
}

}  // namespace rota::cluster

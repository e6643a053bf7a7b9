// PMI-1, which MPICH's mpiexec and its kin speak.
#include "cluster/one_rank.h"
#include "cluster/sources.h"
#include "cluster/sources/slurm_step.h"

namespace rota::cluster {

std::optional<Specification> from_pmi(const Given& given) {
  constexpr RankNames kNames{.rank = "PMI_RANK",
                             .world_size = "PMI_SIZE",
                             .local_rank = "MPI_LOCALRANKID",
                             .local_world_size = "MPI_LOCALNRANKS"};
  const Environment& environment = given.environment;
  if (!environment.has(kNames.rank) && !environment.has(kNames.world_size)) return std::nullopt;
  if (is_own_step(environment, environment.text("PMI_JOBID"))) return std::nullopt;
  return read_rank("PMI", environment, kNames);
}

}  // namespace rota::cluster

// Open MPI's mpirun, by the variables that it gives each process.
#include "cluster/one_rank.h"
#include "cluster/sources.h"

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

}  // namespace rota::cluster

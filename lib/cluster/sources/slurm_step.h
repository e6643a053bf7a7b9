// Tells whether this process is a task of a Slurm step.
#pragma once
#include <string_view>

#include "cluster/environment.h"

namespace rota::cluster {

bool is_in_step(const Environment& environment);

// Returns whether the job that PMI or PMIx names is this Slurm step. In that case srun itself has
// set the PMI variables: a cluster's MpiDefault may make srun do so for every program. Slurm's own
// variables say the same about the step, and more, so rota uses Slurm's variables instead.
bool is_own_step(const Environment& environment, std::string_view job_name);

// Returns the same for PMI-1. mpiexec.hydra inside a step sets all variables of PMI-1 but
// PMI_JOBID, which remains that of srun. MPI_LOCALNRANKS is hydra's alone.
bool is_own_pmi(const Environment& environment);

}  // namespace rota::cluster

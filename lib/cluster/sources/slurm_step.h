// Which step of Slurm's this process is a task of.
#pragma once
#include <string_view>

#include "cluster/environment.h"

namespace rota::cluster {

bool is_in_step(const Environment& environment);

// Whether the job that PMI or PMIx names is this very step: then srun itself set those variables,
// as a cluster's MpiDefault may make it do for every program, and what it says of the step is the
// same and more.
bool is_own_step(const Environment& environment, std::string_view job_name);

}  // namespace rota::cluster

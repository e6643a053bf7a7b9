// What Kubernetes is to make of rotarun's exit codes: which end the job for good, which do not
// count, and which let the world form again. docs/exit_codes.md says what they mean.
#pragma once
#include <string>

#include "launcher/manifest/tree.h"

namespace rota::manifest {

// Of a Job by itself: codes below 128 end it, an agreed stop does not count, all others do.
Tree job_failure_policy(const std::string& container);

// Of the Job of a JobSet, whose failure is judged by jobset_failure_policy().
Tree set_job_failure_policy(const std::string& container);
Tree jobset_failure_policy(std::size_t restart_count);

}  // namespace rota::manifest

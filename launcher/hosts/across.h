// A job across hosts, run by the same command on each of them.
#pragma once
#include "cluster/specification.h"
#include "launcher/job_plan.h"
#include "launcher/local_ranks.h"
#include "launcher/options.h"
#include "os/signals.h"

namespace rota::launcher {

// Returns the exit code, which is the same on every host. Nothing of the job is left on this one
// then. Throws KeyError, SpecificationError, UsageError, Error.
int run_across(const Options& options, const Facts& facts, const cluster::Specification& hosts,
               const RunContext& context, os::SignalWatch& signals);

}  // namespace rota::launcher

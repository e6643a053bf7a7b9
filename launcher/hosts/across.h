// Runs this host's part of a job that is started by the same command on each host: one host leads,
// the others follow.
#pragma once
#include <optional>

#include "auth/key_file.h"
#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_ranks.h"
#include "os/signals.h"

namespace rota::launcher {

// What is known about the hosts of the job before rotarun splits into two processes.
struct Others {
  cluster::Specification hosts;
  std::optional<auth::SharedKey> key{};  // Set if the key does not come from a file.
};

// Returns the exit code, which is the same on every host. When run_across() returns, no process of
// the job is left on this host. Throws KeyError, SpecificationError, UsageError, Error.
int run_across(const Options& options, const Facts& facts, const Others& others,
               const RunContext& context, os::SignalWatch& signals);

}  // namespace rota::launcher

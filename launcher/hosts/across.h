// A job across hosts, run by the same command on each of them.
#pragma once
#include <optional>

#include "auth/key_file.h"
#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_ranks.h"
#include "os/signals.h"

namespace rota::launcher {

// What is known before this rotarun splits in two.
struct Others {
  cluster::Specification hosts;
  std::optional<auth::SharedKey> key{};  // Where it does not come from a file.
};

// Returns the exit code, which is the same on every host. Nothing of the job is left on this one
// then. Throws KeyError, SpecificationError, UsageError, Error.
int run_across(const Options& options, const Facts& facts, const Others& others,
               const RunContext& context, os::SignalWatch& signals);

}  // namespace rota::launcher

// Declares how main() starts a job of several hosts. Only such a job needs OpenSSL and c-ares, so
// it has its own program, rotarun-hosts. rotarun turns into that program if there are several
// hosts, and starts fast if there is one.
#pragma once
#include <string>
#include <vector>

#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/plan/job_plan.h"

namespace rota::launcher {

// Runs this host's part of a job. `arguments` are those of the command line. This function and the
// next one return the exit code, and throw exceptions that main() knows.
int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& facts, const cluster::Specification& hosts);

// Runs this host's part of a job for --follow: another rotarun has started this one.
int launch_followed(const std::vector<std::string>& arguments);

}  // namespace rota::launcher

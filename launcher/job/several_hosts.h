// A job of several hosts, as main() sees it. What that takes, OpenSSL and c-ares, is in a program
// of its own, rotarun-hosts; rotarun turns into it where there are several, and starts fast where
// not.
#pragma once
#include <string>
#include <vector>

#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/plan/job_plan.h"

namespace rota::launcher {

// `arguments` are those of the command line. Both return the exit code, and throw what main()
// knows.
int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& facts, const cluster::Specification& hosts);

// For --follow: another rotarun has started this one, for its own host.
int launch_followed(const std::vector<std::string>& arguments);

}  // namespace rota::launcher

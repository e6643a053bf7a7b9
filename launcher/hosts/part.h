// What each host of a job needs for its part of it, and the two parts that there are.
#pragma once
#include <string>
#include <vector>

#include "auth/key.h"
#include "base/time.h"
#include "launcher/hosts/dispatch.h"
#include "launcher/hosts/meeting.h"
#include "launcher/job_plan.h"
#include "launcher/local_ranks.h"
#include "launcher/options.h"
#include "os/signals.h"

namespace rota::launcher {

struct Part {
  const Options& options;
  const Facts& facts;
  const RunContext& context;
  os::SignalWatch& signals;
  Meeting meeting;
  auth::Key key;  // Of this job.
  Hello own;
};

// From the file that the hosts share. Throws KeyError.
auth::Key key_of_job(const Options& options, const Meeting& meeting,
                     const std::vector<std::string>& environment);

// With it the ranks of all hosts know each other.
auth::Key key_of_data(const auth::Key& key_of_job, const std::string& salt);

// How long the hosts may take to find each other.
base::Duration join_timeout(const Options& options, const Meeting& meeting);

// Both return the exit code; nothing of the job is left on this host then. Host 0 leads.
int lead(Part part);
int follow(Part part);

}  // namespace rota::launcher

// What each host of a job needs for its part of it, and the two parts that there are.
#pragma once
#include <string>
#include <vector>

#include "auth/handshake.h"
#include "auth/key.h"
#include "base/time.h"
#include "launcher/command/options.h"
#include "launcher/hosts/agents/agents.h"
#include "launcher/hosts/meet/meeting.h"
#include "launcher/hosts/wire/dispatch.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_ranks.h"
#include "os/listener.h"
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
  os::Listener listener{};   // Where others call; closed where nobody does.
  Agents* agents = nullptr;  // Of a leader that has started the others.
  int lifeline = -1;         // Of one that was started by the leader: ends with it.
};

// How often to say what is waited for.
inline constexpr std::chrono::seconds kSayTime{5};

// What this host brings to its connections with other launchers.
inline auth::Credentials secret_of(const Part& part) { return {part.key, part.options.encrypt}; }

// From the file that the hosts share; no secret where they need none. Throws KeyError.
auth::Key key_of_job(const Options& options, const Meeting& meeting,
                     const std::vector<std::string>& environment);

// With it the ranks of all hosts know each other.
auth::Key key_of_data(const auth::Key& key_of_job, const std::string& salt);

// How long the hosts may take to find each other.
base::Duration join_timeout(const Options& options, const Meeting& meeting);

// Of this host, as it is declared or found: none where it has no part in the ring.
std::size_t slots_here(const cluster::Specification& cluster, std::size_t own_host,
                       const Options& options, const Facts& facts);

// What follows a complaint that hosts are absent; empty where they are no pods. And that the one
// above is not found, after so long a wait: `why` is what is in the way.
std::string absence_hint(const Part& part, const std::vector<std::size_t>& absent);
std::string calling_hint(const Part& part, const std::string& why, base::Duration waited);

// How a host introduces itself.
Hello make_hello(const Meeting& meeting, const Options& options, const Facts& facts,
                 const RunContext& context);

// Both return the exit code; nothing of the job is left on this host then. The listener
// is the leader's.
int lead(Part part);
int follow(Part part);

}  // namespace rota::launcher

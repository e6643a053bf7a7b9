// Has what each host needs for its part of a job, whether the host leads or follows: the host plan,
// the key, its Hello, and how long it waits.
#pragma once
#include <string>
#include <vector>

#include "auth/handshake.h"
#include "auth/key.h"
#include "base/time.h"
#include "launcher/command/options.h"
#include "launcher/hosts/agents/agents.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/hosts/wire/control_message.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_ranks.h"
#include "os/listener.h"
#include "os/signals.h"

namespace rota::launcher {

struct HostSetup {
  const Options& options;
  const Facts& facts;
  const RunContext& context;
  os::SignalWatch& signals;
  HostPlan host_plan;
  auth::Key key;  // The key of the job.
  Hello own;
  os::Listener listener{};   // Other hosts connect to it; closed if no host does.
  Agents* agents = nullptr;  // Set if this host leads and has started the others.
  int lifeline = -1;         // Set if the leader started this host; ends with the leader.
};

// How often a waiting host prints what it waits for.
inline constexpr std::chrono::seconds kSayTime{5};

// How long hosts in a cluster may take to find each other, without --join-timeout.
inline constexpr std::chrono::seconds kTimeToGather{600};

// Returns the credentials of this host for its connections to other launchers.
inline auth::Credentials secret_of(const HostSetup& setup) {
  return {setup.key, setup.options.encrypt};
}

// Returns the key of the job, made from the key file that the hosts share. If the hosts need no key
// file, the key is made without a secret. Throws KeyError.
auth::Key key_of_job(const Options& options, const HostPlan& host_plan,
                     const std::vector<std::string>& environment);

// Returns the data key, by which the ranks of all hosts recognize each other.
auth::Key key_of_data(const auth::Key& key_of_job, const std::string& salt);

// Returns how long the hosts may take to find each other.
base::Duration join_timeout(const Options& options, const HostPlan& host_plan);

// Returns the slots of this host, as declared or as found; 0 if the host has no ranks.
std::size_t slots_here(const cluster::Specification& cluster, std::size_t own_host,
                       const Options& options, const Facts& facts);

// Return texts to append to a message. absence_hint() is for absent hosts; its text is empty if the
// hosts are neither pods nor tasks of a Slurm step. calling_hint() is for a parent that this host
// has not found after `waited`; `why` is the obstacle. container_hint() is for the error that ends
// a wait; its text is empty if the hosts do not meet at a local name.
std::string absence_hint(const HostSetup& setup, const std::vector<std::size_t>& absent);
std::string calling_hint(const HostSetup& setup, const std::string& why, base::Duration waited);
std::string container_hint(const HostPlan& host_plan);

// Returns the Hello by which this host introduces itself.
Hello make_hello(const HostPlan& host_plan, const Options& options, const Facts& facts,
                 const RunContext& context);

// lead() and follow() return the exit code. When they return, no process of the job is left on this
// host. The leader needs the listener, and so does a follower with hosts below it.
int lead(HostSetup setup);
int follow(HostSetup setup);

}  // namespace rota::launcher

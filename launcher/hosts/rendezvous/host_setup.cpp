// Does what every host of a job does before it joins: the host introduces itself, derives the keys,
// and gives hints about absent hosts.
#include "launcher/hosts/rendezvous/host_setup.h"

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include <rota/error.h>

#include "auth/file_digest.h"
#include "auth/key_file.h"
#include "base/hex.h"
#include "cluster/environment.h"
#include "launcher/hosts/rendezvous/host_tree.h"
#include "launcher/hosts/rendezvous/pod_hints.h"
#include "launcher/plan/job_scope.h"
#include "launcher/plan/nested_launch.h"
#include "names/failure.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

// Returns, for each program, its length, and a digest of its first and last 64 KiB. Linkers put the
// build id and the symbol table there. The digest takes the same time for a program of any length.
std::string identity_of(const std::vector<Group>& groups, const std::vector<std::string>& paths) {
  constexpr std::size_t kEndBytes = 64 * 1024;
  constexpr std::size_t kShownDigits = 12;
  std::string text;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::filesystem::path directory = groups[i].working_directory;
    const auto digest = auth::digest_of_ends((directory / paths[i]).string(), kEndBytes);
    if (!digest) return {};
    text += (i == 0 ? "" : " and ") + std::to_string(digest->bytes) + " bytes, " +
            base::to_hex(digest->sha256).substr(0, kShownDigits);
  }
  return text;
}

constexpr const char* kNoKey =
    "several hosts need a shared key, but there is none in /etc/rota/key or ~/.config/rota/key: "
    "make one with head -c 32 /dev/urandom > key, put it on each host, readable only by you, and "
    "name it with --key-file or ROTA_KEY_FILE";
constexpr const char* kMountSecret =
    "; in a pod, mount a Secret with the key: spec.volumes with secret.secretName";
constexpr const char* kReadSecret =
    "; if the file comes from a Secret, set secret.defaultMode: 0400 on its volume, and "
    "spec.securityContext.fsGroup on the pod";
constexpr const char* kInContainers =
    "; the rotaruns meet at a local name, which no other container reaches: if they are in several "
    "containers, give all of them --key-file, and the address of rank 0 with MASTER_ADDR";

// Returns a hint if the hosts are the tasks of a Slurm step. A shell that runs in such a task does
// not start rotarun in the other tasks.
std::string step_hint(const std::string& source, const std::vector<std::string>& environment) {
  if (source != cluster::kSlurmStep) return {};
  return "; the hosts are the tasks of Slurm step " +
         cluster::find_variable(environment, "SLURM_JOB_ID") + "." +
         cluster::find_variable(environment, "SLURM_STEP_ID") +
         ", and each of them must run rotarun: in a shell of srun --pty, give --this-host for a "
         "job of this host alone";
}

}  // namespace

std::size_t slots_here(const cluster::Specification& cluster, std::size_t own_host,
                       const Options& options, const Facts& facts) {
  const std::vector<std::size_t> slots = cluster::slots_of(cluster, slots_of(options, facts).count);
  return own_host < slots.size() ? slots[own_host] : 0;
}

Hello make_hello(const HostPlan& host_plan, const Options& options, const Facts& facts,
                 const RunContext& context) {
  const bool is_in_ring = host_plan.own_host < host_plan.host_count;
  Hello hello{.version = ROTA_VERSION,
              .host = facts.host,
              .cluster = host_plan.cluster_text + (options.preflight ? ", for a preflight" : ""),
              .slot_count = slots_here(host_plan.cluster, host_plan.own_host, options, facts)};
  if (is_nested_launch(host_plan.cluster)) {
    hello.host = host_plan.cluster.hosts[host_plan.own_host].name;
    hello.local_rank = host_plan.cluster.local_rank;
    hello.local_count = host_plan.cluster.local_world_size;
  }
  if (is_in_ring && !options.preflight && !context.obstacle) {
    hello.program = identity_of(options.groups, context.program_paths);
  }
  if (const auto& obstacle = context.obstacle) {
    hello.obstacle_code = obstacle->value;
    hello.obstacle = obstacle->text;
  }
  return hello;
}

std::string absence_hint(const HostSetup& setup, const std::vector<std::size_t>& absent) {
  std::string of_step = step_hint(setup.host_plan.cluster.source, setup.context.environment);
  if (!of_step.empty() || setup.host_plan.is_local) return of_step;
  const PodFacts pod = read_pod_facts(setup.context.environment);
  const auto& hosts = setup.host_plan.cluster.hosts;
  std::vector<std::string> names;
  names.reserve(absent.size());
  for (const std::size_t host : absent)
    names.push_back(host < hosts.size() ? hosts[host].name : "");
  const std::size_t own_host = setup.host_plan.own_host;
  const std::string trouble =
      own_host < hosts.size() ? naming_trouble(pod, hosts[own_host].name) : "";
  return trouble.empty() ? absence_hint(pod, names) : trouble;
}

std::string calling_hint(const HostSetup& setup, const std::string& why, base::Duration waited) {
  if (setup.host_plan.is_local) return absence_hint(setup, {});
  if (!why.starts_with(names::kNoRecord)) return {};
  return absence_hint(setup, {parent_of(setup.host_plan, setup.host_plan.own_host)}) +
         record_hint(read_pod_facts(setup.context.environment), waited);
}

std::string container_hint(const HostPlan& host_plan) {
  return host_plan.is_local ? kInContainers : "";
}

auth::Key key_of_job(const Options& options, const HostPlan& host_plan,
                     const std::vector<std::string>& environment) {
  if (options.insecure && !host_plan.is_on_loopback) {
    throw KeyError("--insecure is only for hosts on loopback, but these hosts connect to " +
                   host_plan.leader);
  }
  // At a local name no secret is needed: the kernel reports the user of a connecting process. The
  // ranks' own connections are protected by a key that is made from a salt, which only the job's
  // launchers get.
  if (options.insecure || host_plan.is_local) {
    constexpr std::array<std::byte, auth::kKeyBytes> kNoSecret{};
    return auth::job_key(kNoSecret, host_plan.job_id);
  }
  const std::string named = options.key_file.empty()
                                ? cluster::find_variable(environment, "ROTA_KEY_FILE")
                                : options.key_file;
  const auto path =
      auth::find_key_file({.named = named, .home = cluster::find_variable(environment, "HOME")});
  const bool is_pod = cluster::is_set(environment, "KUBERNETES_SERVICE_HOST");
  if (!path) throw KeyError(std::string(kNoKey) + (is_pod ? kMountSecret : ""));
  try {
    const auth::SharedKey shared = auth::read_key_file(*path);
    return auth::job_key(shared.bytes(), host_plan.job_id);
  } catch (const Error& error) {
    throw KeyError(error.what() + std::string(is_pod ? kReadSecret : ""));
  }
}

auth::Key key_of_data(const auth::Key& key_of_job, const std::string& salt) {
  constexpr std::string_view kPurpose = "rota/1 data";
  auth::Key key;
  auth::hkdf_sha256(key_of_job.bytes(), std::as_bytes(std::span(salt)),
                    std::as_bytes(std::span(kPurpose)), key.bytes());
  return key;
}

base::Duration join_timeout(const Options& options, const HostPlan& host_plan) {
  constexpr std::chrono::seconds kNearby{30};
  if (options.join_timeout) return *options.join_timeout;
  return host_plan.is_on_loopback || host_plan.is_started ? kNearby : kTimeToGather;
}

}  // namespace rota::launcher

// What every host of a job does alike.
#include "launcher/hosts/meet/part.h"

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include <rota/error.h>

#include "auth/file_digest.h"
#include "auth/key_file.h"
#include "base/hex.h"
#include "cluster/environment.h"
#include "launcher/hosts/meet/pod.h"
#include "launcher/hosts/meet/tree.h"
#include "launcher/plan/one_slot_each.h"
#include "launcher/plan/reach.h"
#include "names/failure.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

// Of each: its length, and a digest of its first and last 64 KiB, where linkers put the build's id
// and the table of symbols: in the same time however long it is.
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
    "several hosts need a key that they share, and there is none in /etc/rota/key or "
    "~/.config/rota/key: make one, head -c 32 /dev/urandom > key, put it on each host, "
    "readable by nobody else, and name it by --key-file or ROTA_KEY_FILE";
constexpr const char* kMountSecret =
    "; in a pod mount a Secret that holds it, spec.volumes with secret.secretName";
constexpr const char* kReadSecret =
    "; where it is a Secret's, give its volume secret.defaultMode: 0400, and the pod "
    "spec.securityContext.fsGroup";

}  // namespace

std::size_t slots_here(const cluster::Specification& cluster, std::size_t own_host,
                       const Options& options, const Facts& facts) {
  const std::vector<std::size_t> slots = cluster::slots_of(cluster, slots_of(options, facts).count);
  return own_host < slots.size() ? slots[own_host] : 0;
}

Hello make_hello(const Meeting& meeting, const Options& options, const Facts& facts,
                 const RunContext& context) {
  const bool is_in_ring = meeting.own_host < meeting.host_count;
  Hello hello{.version = ROTA_VERSION,
              .host = facts.host,
              .cluster = meeting.cluster_text + (options.preflight ? ", for a preflight" : ""),
              .slot_count = slots_here(meeting.cluster, meeting.own_host, options, facts)};
  if (is_one_slot_each(meeting.cluster)) {
    hello.host = meeting.cluster.hosts[meeting.own_host].name;
    hello.local_rank = meeting.cluster.local_rank;
    hello.local_count = meeting.cluster.local_world_size;
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

std::string absence_hint(const Part& part, const std::vector<std::size_t>& absent) {
  if (part.meeting.is_local) return {};  // They are no pods of their own.
  const PodFacts pod = read_pod_facts(part.context.environment);
  const auto& hosts = part.meeting.cluster.hosts;
  std::vector<std::string> names;
  names.reserve(absent.size());
  for (const std::size_t host : absent)
    names.push_back(host < hosts.size() ? hosts[host].name : "");
  const std::size_t own_host = part.meeting.own_host;
  const std::string trouble =
      own_host < hosts.size() ? naming_trouble(pod, hosts[own_host].name) : "";
  return trouble.empty() ? absence_hint(pod, names) : trouble;
}

std::string calling_hint(const Part& part, const std::string& why, base::Duration waited) {
  if (!why.starts_with(names::kNoRecord)) return {};
  return absence_hint(part, {parent_of(part.meeting, part.meeting.own_host)}) +
         record_hint(read_pod_facts(part.context.environment), waited);
}

auth::Key key_of_job(const Options& options, const Meeting& meeting,
                     const std::vector<std::string>& environment) {
  if (options.insecure && !meeting.is_on_loopback) {
    throw KeyError("--insecure is for hosts on loopback, and these meet at " + meeting.leader);
  }
  // At a local name the kernel says whose process it is, and what keeps the ranks' own connections
  // is the salt, which nobody else hears there.
  if (options.insecure || meeting.is_local) {
    constexpr std::array<std::byte, auth::kKeyBytes> kNoSecret{};
    return auth::job_key(kNoSecret, meeting.job_id);
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
    return auth::job_key(shared.bytes(), meeting.job_id);
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

base::Duration join_timeout(const Options& options, const Meeting& meeting) {
  constexpr std::chrono::seconds kInCluster{600};
  constexpr std::chrono::seconds kNearby{30};
  if (options.join_timeout) return *options.join_timeout;
  return meeting.is_on_loopback || meeting.is_started ? kNearby : kInCluster;
}

}  // namespace rota::launcher

// Makes the host plan: where the hosts of a job find each other, and what they must agree on.
#include "launcher/hosts/rendezvous/host_plan.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "auth/key.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "cluster/host_names.h"
#include "launcher/plan/job_scope.h"
#include "launcher/plan/nested_launch.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

// Longer texts are cut, because nobody reads them. The digest of the whole text still shows whether
// two texts are the same.
constexpr std::size_t kMostWordsBytes = 512;

std::string shortened(std::string words) {
  if (words.size() <= kMostWordsBytes) return words;
  const std::string digest = base::to_hex(auth::sha256(std::as_bytes(std::span(words))));
  words.resize(base::cut(words, kMostWordsBytes).size());
  return words + "... (sha256 of all of it: " + digest + ")";
}

bool is_own_alone_known(const cluster::Specification& cluster, bool is_private) {
  return is_private && cluster.own_host && *cluster.own_host < cluster::ring_count(cluster);
}

// Returns whether every host with ranks knows the names of all hosts with ranks.
bool are_named(const cluster::Specification& cluster) {
  const auto ring = std::span(cluster.hosts).first(cluster::ring_count(cluster));
  return !is_own_alone_known(cluster, cluster.is_own_name_private) &&
         std::ranges::none_of(ring, [](const auto& host) { return host.name.empty(); });
}

// Describes the cluster in the same words on every host: leaves out names and slots that only one
// host knows, and writes names in the form in which they are compared.
std::string describe(cluster::Specification cluster, const std::string& place) {
  for (cluster::Host& host : cluster.hosts) host.name = cluster::to_compare(host.name);
  const std::size_t host_count = cluster::ring_count(cluster);
  std::string text = std::to_string(host_count) + " hosts that meet at " + place;
  if (cluster.world_size) text += ", a world of " + std::to_string(*cluster.world_size);
  if (!are_named(cluster)) return text;
  const auto ring = std::span(cluster.hosts).first(host_count);
  const bool have_slots =
      !is_own_alone_known(cluster, cluster.are_own_slots_private) &&
      std::ranges::all_of(ring, [](const auto& host) { return host.slots.has_value(); });
  for (std::size_t i = 0; i < host_count; ++i) {
    text += (i == 0 ? ": " : ", ") + cluster::name_of(cluster, i);
    if (have_slots) text += " with " + std::to_string(*ring[i].slots);
  }
  return shortened(std::move(text));
}

}  // namespace

std::string with_brackets(const std::string& name) {
  return name.find(':') == std::string::npos ? name : "[" + name + "]";
}

HostPlan plan_hosts(const cluster::Specification& cluster, const Options& options) {
  HostPlan host_plan{.cluster = cluster, .host_count = cluster::ring_count(cluster)};
  if (!cluster.own_host) {
    throw SpecificationError(cluster.source + " says " + cluster::to_text(cluster) +
                             ", but neither this host's name nor one of its addresses is in the "
                             "list: set ROTA_HOST to its name in the list");
  }
  if (!cluster.rendezvous || cluster.rendezvous->name.empty()) {
    throw SpecificationError(cluster.source + " says " + cluster::to_text(cluster) +
                             ", but not where host 0 is: name the hosts, or set ROTA_SERVICE to "
                             "the name of their Service");
  }
  host_plan.own_host = *cluster.own_host;
  const std::string port =
      ":" + std::to_string(cluster.rendezvous->port.value_or(options.ports.first));
  host_plan.leader = with_brackets(cluster.rendezvous->name) + port;
  host_plan.port = options.ports.first;
  host_plan.may_have_evaluator = cluster.source == "TF_CONFIG" &&
                                 std::ranges::find(cluster.hosts, cluster::Role::kEvaluator,
                                                   &cluster::Host::role) == cluster.hosts.end();
  // A host to which others connect must have a name, unless it is host 0.
  host_plan.is_tree = host_plan.host_count > kMostChildren + 1 && are_named(cluster);
  host_plan.is_local = meet_by_local_name(cluster);
  host_plan.is_on_loopback = host_plan.is_local || cluster::is_loopback(cluster.rendezvous->name);
  // Hosts compare the place where they meet. A local name has no letters that do not matter.
  const std::string place =
      host_plan.is_local ? host_plan.leader
                         : with_brackets(cluster::to_compare(cluster.rendezvous->name)) + port;
  host_plan.cluster_text = describe(cluster, place);
  // If no source names the job, its id is that place. Hosts compare job ids.
  host_plan.job_id = cluster.job_id.empty() ? "at " + place : cluster.job_id;
  return host_plan;
}

std::size_t member_count(const HostPlan& host_plan) {
  const std::size_t unlisted_count = host_plan.may_have_evaluator ? 1 : 0;
  return std::max({host_plan.cluster.hosts.size() + unlisted_count, host_plan.host_count,
                   host_plan.leader_host + 1});
}

std::size_t host_of_evaluators(const HostPlan& host_plan) {
  const auto& hosts = host_plan.cluster.hosts;
  const auto found = std::ranges::find(hosts, cluster::Role::kEvaluator, &cluster::Host::role);
  return found == hosts.end() ? 0 : static_cast<std::size_t>(found - hosts.begin());
}

std::vector<std::string> own_names(const HostPlan& host_plan) {
  const auto& hosts = host_plan.cluster.hosts;
  if (host_plan.own_host >= hosts.size() || hosts[host_plan.own_host].name.empty()) return {};
  return {hosts[host_plan.own_host].name};
}

std::string name_of_host(const HostPlan& host_plan, std::size_t host) {
  const bool is_outside = host == host_plan.leader_host && host >= host_plan.cluster.hosts.size();
  if (is_outside) return "the host that starts the job";
  const std::string number = "host " + std::to_string(host);
  const std::string name = cluster::name_of(host_plan.cluster, host);
  return name == number ? name : number + " (" + name + ")";
}

std::string place_of(const HostPlan& host_plan, std::size_t host) {
  if (host == host_plan.leader_host) return host_plan.leader;
  const cluster::Host& named = host_plan.cluster.hosts[host];
  return with_brackets(named.name) + ":" + std::to_string(named.port.value_or(host_plan.port));
}

HostPlan plan_started_hosts(const cluster::Specification& cluster, const std::string& leader) {
  HostPlan host_plan{.cluster = cluster, .host_count = cluster::ring_count(cluster)};
  const std::size_t outside = host_plan.cluster.hosts.size();
  host_plan.own_host = cluster.own_host.value_or(outside);
  host_plan.leader_host = host_plan.own_host;
  host_plan.leader = leader;
  host_plan.is_started = true;
  host_plan.cluster_text = describe(cluster, "the host that starts them");
  return host_plan;
}

std::array<std::byte, 16> to_bytes(const std::string& job_id) {
  std::array<std::byte, 16> bytes{};
  const auto digest = auth::sha256(std::as_bytes(std::span(job_id)));
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  return bytes;
}

}  // namespace rota::launcher

// Where the hosts of a job meet.
#include "launcher/hosts/meet/meeting.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "auth/key.h"
#include "base/hex.h"
#include "cluster/host_names.h"
#include "launcher/plan/one_slot_each.h"
#include "launcher/plan/reach.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

// Longer words are for nobody to read: their digest tells as well whether they are the same.
constexpr std::size_t kMostWordsBytes = 512;

std::string shortened(std::string words) {
  if (words.size() <= kMostWordsBytes) return words;
  const std::string digest = base::to_hex(auth::sha256(std::as_bytes(std::span(words))));
  words.resize(kMostWordsBytes);
  return words + "... (sha256 of all of it: " + digest + ")";
}

bool is_own_alone_known(const cluster::Specification& cluster, bool is_private) {
  return is_private && cluster.own_host && *cluster.own_host < cluster::ring_count(cluster);
}

// Whether every host of the ring knows the names of all.
bool are_named(const cluster::Specification& cluster) {
  const auto ring = std::span(cluster.hosts).first(cluster::ring_count(cluster));
  return !is_own_alone_known(cluster, cluster.is_own_name_private) &&
         std::ranges::none_of(ring, [](const auto& host) { return host.name.empty(); });
}

// The same words on every host: what one of them alone knows about itself is left out.
std::string describe(const cluster::Specification& cluster, const std::string& place) {
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

Meeting plan_meeting(const cluster::Specification& cluster, const Options& options) {
  Meeting meeting{.cluster = cluster, .host_count = cluster::ring_count(cluster)};
  if (!cluster.own_host) {
    throw SpecificationError(cluster.source + " says " + cluster::to_text(cluster) +
                             ", and this host is none of them by its name or an address of its "
                             "own: name it as the list does, in ROTA_HOST");
  }
  if (!cluster.meeting || cluster.meeting->name.empty()) {
    throw SpecificationError(cluster.source + " says " + cluster::to_text(cluster) +
                             ", and not where host 0 is: name the hosts, or set ROTA_SERVICE to "
                             "the name of the Service that is before them");
  }
  meeting.own_host = *cluster.own_host;
  meeting.leader = with_brackets(cluster.meeting->name) + ":" +
                   std::to_string(cluster.meeting->port.value_or(options.ports.first));
  meeting.port = options.ports.first;
  meeting.may_have_evaluator = cluster.source == "TF_CONFIG" &&
                               std::ranges::find(cluster.hosts, cluster::Role::kEvaluator,
                                                 &cluster::Host::role) == cluster.hosts.end();
  // Who is called must have a name, unless it is host 0.
  meeting.is_tree = meeting.host_count > kMostChildren + 1 && are_named(cluster);
  meeting.is_local = meet_by_local_name(cluster);
  meeting.is_on_loopback = meeting.is_local || cluster::is_loopback(cluster.meeting->name);
  meeting.cluster_text = describe(cluster, meeting.leader);
  // Where nothing names the job, those who meet at one place find out whether they mean the same.
  meeting.job_id = cluster.job_id.empty() ? "at " + meeting.leader : cluster.job_id;
  return meeting;
}

std::size_t member_count(const Meeting& meeting) {
  const std::size_t unlisted_count = meeting.may_have_evaluator ? 1 : 0;
  return std::max(
      {meeting.cluster.hosts.size() + unlisted_count, meeting.host_count, meeting.leader_host + 1});
}

std::size_t host_of_evaluators(const Meeting& meeting) {
  const auto& hosts = meeting.cluster.hosts;
  const auto found = std::ranges::find(hosts, cluster::Role::kEvaluator, &cluster::Host::role);
  return found == hosts.end() ? 0 : static_cast<std::size_t>(found - hosts.begin());
}

std::vector<std::string> own_names(const Meeting& meeting) {
  const auto& hosts = meeting.cluster.hosts;
  if (meeting.own_host >= hosts.size() || hosts[meeting.own_host].name.empty()) return {};
  return {hosts[meeting.own_host].name};
}

std::string name_of_host(const Meeting& meeting, std::size_t host) {
  const bool is_outside = host == meeting.leader_host && host >= meeting.cluster.hosts.size();
  if (is_outside) return "the host that starts the job";
  const std::string number = "host " + std::to_string(host);
  const std::string name = cluster::name_of(meeting.cluster, host);
  return name == number ? name : number + " (" + name + ")";
}

std::string place_of(const Meeting& meeting, std::size_t host) {
  if (host == meeting.leader_host) return meeting.leader;
  const cluster::Host& named = meeting.cluster.hosts[host];
  return with_brackets(named.name) + ":" + std::to_string(named.port.value_or(meeting.port));
}

Meeting plan_started_meeting(const cluster::Specification& cluster, const std::string& leader) {
  Meeting meeting{.cluster = cluster, .host_count = cluster::ring_count(cluster)};
  const std::size_t outside = meeting.cluster.hosts.size();
  meeting.own_host = cluster.own_host.value_or(outside);
  meeting.leader_host = meeting.own_host;
  meeting.leader = leader;
  meeting.is_started = true;
  meeting.cluster_text = describe(cluster, "the host that starts them");
  return meeting;
}

std::array<std::byte, 16> to_bytes(const std::string& job_id) {
  std::array<std::byte, 16> bytes{};
  const auto digest = auth::sha256(std::as_bytes(std::span(job_id)));
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  return bytes;
}

}  // namespace rota::launcher

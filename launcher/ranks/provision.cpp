// Finds CUDA devices, threads and ports on this host for its ranks, and warns if some are missing.
#include "launcher/ranks/provision.h"

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "launcher/plan/devices.h"

namespace rota::launcher {
namespace {

void provide_ports(const PortRange& range, const std::vector<std::size_t>& ranks,
                   Provision& provision) {
  const bool has_rank_0 = std::ranges::find(ranks, 0U) != ranks.end();
  const std::size_t needed = ranks.size() + (has_rank_0 ? 1 : 0);
  provision.ports = claim_ports(range, needed);
  const std::size_t port_count = provision.ports.ports.size();
  if (port_count >= needed) return;
  const std::string& trouble = provision.ports.trouble;
  const std::string lack = trouble.empty() ? "" : " (" + trouble + ")";
  const bool has_none = has_rank_0 && port_count == 0;
  const std::string users = has_rank_0 ? "MASTER_PORT and TF_CONFIG" : "TF_CONFIG";
  provision.warnings.push_back("of the ports " + std::to_string(range.first) + "-" +
                               std::to_string(range.last) + " (--ports or ROTA_PORTS), " +
                               std::to_string(port_count) + (port_count == 1 ? " is" : " are") +
                               " free besides the first, at which the launcher listens" + lack +
                               "; " + base::counted_ranks(ranks.size()) +
                               (ranks.size() == 1 ? " needs " : " need ") + std::to_string(needed) +
                               " for " + users + ": " + (has_none ? "both are" : "TF_CONFIG is") +
                               " left out; give a wider range");
}

}  // namespace

Provision provide(const Options& options, const std::vector<std::string>& environment,
                  const HostAssignment& assignment, std::size_t cpu_count) {
  const std::size_t rank_count = assignment.ranks.size();
  Provision provision;
  DevicesOfRanks devices = devices_of_ranks(options, environment, assignment);
  provision.devices = std::move(devices.given);
  provision.visible_devices = std::move(devices.visible);
  if (devices.warning) provision.warnings.push_back(*std::move(devices.warning));
  // A preflight counts the free ports, so it claims none. Its rank does not need any.
  if (!options.preflight) provide_ports(options.ports, assignment.ranks, provision);
  provision.thread_count = options.cpus_per_rank.value_or(std::max<std::size_t>(
      1, cpu_count / std::max<std::size_t>(1, rank_count + assignment.other_count)));
  provision.is_crowded = rank_count + assignment.other_count > cpu_count;
  return provision;
}

RankContract contract_of(const HostAssignment& assignment, std::size_t local_rank,
                         const Peers& peers, const Provision& provision) {
  const std::size_t rank = assignment.ranks[local_rank];
  return {.rank = rank,
          .world_size = assignment.world_size,
          .local_rank = assignment.earlier_count + local_rank,
          .local_world_size = assignment.ranks.size() + assignment.other_count,
          .host_index = assignment.host_index,
          .host_count = assignment.host_count,
          .thread_count = provision.thread_count,
          .device = provision.devices.empty() ? "" : provision.devices[local_rank],
          .first = peers.first,
          .tf_config = tf_config(peers, rank),
          .is_only_one = assignment.ranks.size() == 1};
}

}  // namespace rota::launcher

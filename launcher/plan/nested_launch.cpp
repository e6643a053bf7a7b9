// Turns ranks that another launcher has started into hosts with one slot.
#include "launcher/plan/nested_launch.h"

#include <algorithm>
#include <map>

#include <rota/error.h>

#include "cluster/meeting_point.h"
#include "launcher/plan/job_scope.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

std::optional<cluster::RendezvousEndpoint> meeting_point_of(const cluster::Specification& chosen,
                                                            const cluster::Given& given,
                                                            bool has_key) {
  try {
    return cluster::meeting_point(chosen, given, has_key);
  } catch (const Error& error) {
    throw SpecificationError(error.what());
  }
}

}  // namespace

bool meet_by_local_name(const cluster::Specification& hosts) noexcept {
  return hosts.rendezvous && hosts.rendezvous->name.starts_with(os::kLocalSign);
}

cluster::Specification as_hosts(const cluster::Specification& chosen, const cluster::Given& given,
                                bool has_key) {
  const std::string what = chosen.source + " says " + cluster::to_text(chosen);
  if (!chosen.world_size) {
    throw SpecificationError(what + ": set ROTA_WORLD to the number of ranks");
  }
  cluster::Specification hosts = chosen;
  hosts.rendezvous = meeting_point_of(chosen, given, has_key);
  if (!hosts.rendezvous) throw SpecificationError(what + cluster::ask_for_first());
  hosts.level = cluster::Level::kHost;
  hosts.hosts.assign(*chosen.world_size, cluster::Host{.slots = 1});
  hosts.own_host = chosen.rank;
  hosts.hosts[*chosen.rank].name = cluster::machine_of(chosen, given);
  hosts.is_own_name_private = true;
  hosts.job_id = cluster::job_id_of(chosen, given);
  return hosts;
}

bool is_nested_launch(const cluster::Specification& hosts) noexcept {
  return hosts.rank.has_value();
}

void place_on_machines(const std::vector<OwnPlace>& places,
                       std::vector<HostAssignment>& assignments) {
  std::map<std::string, std::size_t> number_of_machine;
  std::map<std::string, std::size_t> count_on_machine;
  for (std::size_t host = 0; host < places.size(); ++host) {
    const OwnPlace& place = places[host];
    number_of_machine.try_emplace(place.machine, number_of_machine.size());
    assignments[host].earlier_count = place.local_rank.value_or(count_on_machine[place.machine]);
    ++count_on_machine[place.machine];
  }
  for (std::size_t host = 0; host < places.size(); ++host) {
    const OwnPlace& place = places[host];
    HostAssignment& assignment = assignments[host];
    const std::size_t told = place.local_count.value_or(count_on_machine[place.machine]);
    const std::size_t least = assignment.earlier_count + assignment.ranks.size();
    assignment.other_count = std::max(told, least) - assignment.ranks.size();
    assignment.host_index = number_of_machine[place.machine];
    assignment.host_count = number_of_machine.size();
  }
}

}  // namespace rota::launcher

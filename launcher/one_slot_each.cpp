// Ranks that somebody else has started, as hosts.
#include "launcher/one_slot_each.h"

#include <algorithm>
#include <map>

#include <rota/error.h>

#include "cluster/one_rank.h"
#include "launcher/reach.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

// Where Slurm tells it, a node's own name; or the host's.
std::string machine_of(const cluster::Specification& chosen, const cluster::Given& given) {
  const bool is_named = chosen.own_host && *chosen.own_host < chosen.hosts.size() &&
                        !chosen.hosts[*chosen.own_host].name.empty();
  return is_named ? chosen.hosts[*chosen.own_host].name : given.host_name;
}

std::optional<cluster::Meeting> declared_meeting(const cluster::Given& given) {
  try {
    return cluster::read_meeting(given.environment, "MASTER_ADDR", "MASTER_PORT");
  } catch (const Error& error) {
    throw SpecificationError(error.what());
  }
}

std::optional<cluster::Meeting> meeting_of(const cluster::Specification& chosen,
                                           const cluster::Given& given) {
  if (chosen.meeting) return chosen.meeting;
  if (auto declared = declared_meeting(given)) return declared;
  const bool are_together =
      chosen.hosts.size() == 1 || chosen.local_world_size == chosen.world_size;
  if (are_together) return cluster::Meeting{.name = os::kLoopback};
  const bool has_first = !chosen.hosts.empty() && !chosen.hosts.front().name.empty();
  return has_first ? std::optional(cluster::Meeting{.name = chosen.hosts.front().name})
                   : std::nullopt;
}

// Steps of one allocation are jobs of their own, and so are programs of one mpirun after another.
std::string job_id_of(const cluster::Specification& chosen, const cluster::Given& given) {
  if (chosen.job_id.empty()) return given.environment.text("PMIX_NAMESPACE");
  const std::string step = given.environment.text("SLURM_STEP_ID");
  const bool is_step = !step.empty() && chosen.job_id == given.environment.text("SLURM_JOB_ID");
  return is_step ? chosen.job_id + "." + step : chosen.job_id;
}

}  // namespace

cluster::Specification as_hosts(const cluster::Specification& chosen, const cluster::Given& given) {
  const std::string what = chosen.source + " says " + cluster::to_text(chosen);
  if (!chosen.world_size) {
    throw SpecificationError(what + ": set ROTA_WORLD to the number of ranks");
  }
  cluster::Specification hosts = chosen;
  hosts.meeting = meeting_of(chosen, given);
  if (!hosts.meeting) {
    throw SpecificationError(what +
                             ", and not where rank 0 is: set MASTER_ADDR to the name or the "
                             "address of its host, the same for all");
  }
  hosts.level = cluster::Level::kHost;
  hosts.hosts.assign(*chosen.world_size, cluster::Host{.slots = 1});
  hosts.own_host = chosen.rank;
  hosts.hosts[*chosen.rank].name = machine_of(chosen, given);
  hosts.is_own_name_private = true;
  hosts.job_id = job_id_of(chosen, given);
  return hosts;
}

bool is_one_slot_each(const cluster::Specification& hosts) noexcept {
  return hosts.rank.has_value();
}

void seat_on_machines(const std::vector<OwnPlace>& places, std::vector<Share>& shares) {
  std::map<std::string, std::size_t> number_of_machine;
  std::map<std::string, std::size_t> count_on_machine;
  for (std::size_t host = 0; host < places.size(); ++host) {
    const OwnPlace& place = places[host];
    number_of_machine.try_emplace(place.machine, number_of_machine.size());
    shares[host].earlier_count = place.local_rank.value_or(count_on_machine[place.machine]);
    ++count_on_machine[place.machine];
  }
  for (std::size_t host = 0; host < places.size(); ++host) {
    const OwnPlace& place = places[host];
    Share& share = shares[host];
    const std::size_t told = place.local_count.value_or(count_on_machine[place.machine]);
    const std::size_t least = share.earlier_count + share.ranks.size();
    share.other_count = std::max(told, least) - share.ranks.size();
    share.host_index = number_of_machine[place.machine];
    share.host_count = number_of_machine.size();
  }
}

}  // namespace rota::launcher

// Ranks that somebody else has started, as hosts.
#include "launcher/plan/one_slot_each.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <rota/error.h>

#include "cluster/one_rank.h"
#include "launcher/plan/reach.h"
#include "os/address.h"
#include "os/file.h"
#include "os/host.h"
#include "os/message_socket.h"

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
  if (are_on_one_machine(chosen)) return cluster::Meeting{.name = os::kLoopback};
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

// Ends tell jobs apart, where launchers begin with the host's name.
std::string as_part_of_name(std::string text) {
  constexpr std::size_t kMostBytes = 64;
  constexpr std::string_view kOthers = ":/@[] ";
  if (text.size() > kMostBytes) text = text.substr(text.size() - kMostBytes);
  for (char& c : text) {
    if (kOthers.find(c) != std::string_view::npos || c < ' ') c = '_';
  }
  return text;
}

// Of all of them. MPICH's gives each an end of a pair of sockets, which a script between them hands
// on; of others' children it is the parent.
int starter_of_all(const cluster::Given& given) {
  const std::string text = given.environment.text("PMI_FD");
  int fd = -1;
  std::from_chars(text.data(), text.data() + text.size(), fd);
  const int maker = fd < 0 ? 0 : os::maker_of_pair(fd);
  return maker == 0 ? os::parent_process() : maker;
}

// The same for all of them, and another one for another job of the user that runs meanwhile: by the
// job's own number; by the port that torchrun found free for it, as its number may be "none"; or
// else by the process that has started them.
std::string local_name_of(const cluster::Specification& chosen, const cluster::Given& given) {
  std::string job = job_id_of(chosen, given);
  const std::string port = given.environment.text("MASTER_PORT");
  if (!port.empty()) job += (job.empty() ? "" : "-") + port;
  if (job.empty()) job = "of-" + std::to_string(starter_of_all(given));
  return os::kLocalSign + ("rota-" + std::to_string(os::own_user()) + "-" + as_part_of_name(job));
}

}  // namespace

bool are_on_one_machine(const cluster::Specification& chosen) noexcept {
  const bool are_all_here = chosen.world_size && chosen.local_world_size == chosen.world_size;
  return are_all_here || chosen.hosts.size() == 1;
}

bool meet_by_local_name(const cluster::Specification& hosts) noexcept {
  return hosts.meeting && hosts.meeting->name.starts_with(os::kLocalSign);
}

cluster::Specification as_hosts(const cluster::Specification& chosen, const cluster::Given& given,
                                bool has_key) {
  const std::string what = chosen.source + " says " + cluster::to_text(chosen);
  if (!chosen.world_size) {
    throw SpecificationError(what + ": set ROTA_WORLD to the number of ranks");
  }
  cluster::Specification hosts = chosen;
  hosts.meeting = are_on_one_machine(chosen) && !has_key
                      ? cluster::Meeting{.name = local_name_of(chosen, given)}
                      : meeting_of(chosen, given);
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

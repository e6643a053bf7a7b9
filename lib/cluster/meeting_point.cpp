// Makes the local name or the address at which the ranks of another launcher meet.
#include "cluster/meeting_point.h"

#include <charconv>

#include "cluster/host_names.h"
#include "cluster/one_rank.h"
#include "cluster/refusal.h"
#include "cluster/sources/slurm_step.h"
#include "os/address.h"
#include "os/file.h"
#include "os/host.h"
#include "os/message_socket.h"

namespace rota::cluster {
namespace {

std::optional<RendezvousEndpoint> rendezvous_of(const Specification& chosen, const Given& given) {
  if (chosen.rendezvous) return chosen.rendezvous;
  if (auto declared = read_rendezvous(given.environment, "MASTER_ADDR", "MASTER_PORT")) {
    return declared;
  }
  if (are_on_one_machine(chosen)) return RendezvousEndpoint{.name = os::kLoopback};
  const bool has_first = !chosen.hosts.empty() && !chosen.hosts.front().name.empty();
  return has_first ? std::optional(RendezvousEndpoint{.name = chosen.hosts.front().name})
                   : std::nullopt;
}

// Refuses 0.0.0.0, at which no rank of another host can reach rank 0. A launcher gives all ranks
// the same address, so rank 0 refuses it too: it would wait for ranks that cannot come.
void require_usable(const RendezvousEndpoint& place, const Specification& chosen) {
  if (!is_unspecified(place.name) || are_on_one_machine(chosen)) return;
  refuse(chosen.source + " says " + to_text(chosen) + ", and that rank 0 is at " +
         shown(place.name) +
         "; every host means itself by that name: give the name by which other hosts reach rank 0");
}

// Keeps the end of a long string: it may begin with the host's name, and the end tells jobs apart.
std::string as_part_of_name(std::string text) {
  constexpr std::size_t kMostBytes = 64;
  constexpr std::string_view kOthers = ":/@[] ";
  if (text.size() > kMostBytes) text = text.substr(text.size() - kMostBytes);
  for (char& c : text) {
    if (kOthers.find(c) != std::string_view::npos || c < ' ') c = '_';
  }
  return text;
}

// Returns the process that has started all ranks of the job. MPICH's launcher makes a socket pair
// for each rank and gives the rank one end. A script between the launcher and the rank passes this
// end on, but the maker of the pair is still the launcher. With other launchers, the starter is the
// parent process.
int starter_of_all(const Given& given) {
  const std::string text = given.environment.text("PMI_FD");
  int fd = -1;
  std::from_chars(text.data(), text.data() + text.size(), fd);
  const int maker = fd < 0 ? 0 : os::maker_of_pair(fd);
  return maker == 0 ? os::parent_process() : maker;
}

// Returns a name that is the same for all ranks of the job, and differs from the name of another
// job of the same user at the same time. It consists of the job's id and of the port that torchrun
// found free, because torchrun's id may be "none". If there is neither, it has the number of the
// process that started the ranks.
std::string local_name_of(const Specification& chosen, const Given& given) {
  std::string job = job_id_of(chosen, given);
  const std::string port = port_text(given.environment, "MASTER_PORT");
  if (!port.empty()) job += (job.empty() ? "" : "-") + port;
  if (job.empty()) job = "of-" + std::to_string(starter_of_all(given));
  return os::kLocalSign + ("rota-" + std::to_string(os::own_user()) + "-" + as_part_of_name(job));
}

}  // namespace

bool are_on_one_machine(const Specification& chosen) noexcept {
  const bool are_all_here = chosen.world_size && chosen.local_world_size == chosen.world_size;
  return are_all_here || chosen.hosts.size() == 1;
}

std::string machine_of(const Specification& chosen, const Given& given) {
  const bool is_named = chosen.own_host && *chosen.own_host < chosen.hosts.size() &&
                        !chosen.hosts[*chosen.own_host].name.empty();
  return is_named ? chosen.hosts[*chosen.own_host].name : given.host_name;
}

std::string job_id_of(const Specification& chosen, const Given& given) {
  if (chosen.job_id.empty()) return given.environment.text("PMIX_NAMESPACE");
  const std::string step = given.environment.text("SLURM_STEP_ID");
  const bool is_step = !step.empty() && chosen.job_id == given.environment.text("SLURM_JOB_ID");
  return is_step ? chosen.job_id + "." + step : chosen.job_id;
}

// A script may set RANK and WORLD_SIZE to the numbers of its task. torchrun sets its id, too.
bool is_served(const Specification& chosen, const Environment& environment,
               std::string_view job_name) {
  if (!is_own_step(environment, job_name)) return true;
  const std::string own_count = environment.text("SLURM_STEP_NUM_TASKS");
  const std::string count = own_count.empty() ? environment.text("SLURM_NTASKS") : own_count;
  return environment.text("SLURM_PROCID") == std::to_string(*chosen.rank) &&
         count == std::to_string(*chosen.world_size) && !environment.has("TORCHELASTIC_RUN_ID");
}

std::optional<RendezvousEndpoint> meeting_point(const Specification& chosen, const Given& given,
                                                bool has_key) {
  if (!are_on_one_machine(chosen) || has_key) {
    auto place = rendezvous_of(chosen, given);
    if (place) require_usable(*place, chosen);
    return place;
  }
  return RendezvousEndpoint{.name = local_name_of(chosen, given)};
}

base::PortRange to_ports(const std::string& what, std::string_view text) {
  if (const auto range = base::port_range_from(text)) return *range;
  refuse(what + " is " + shown(text) +
         ": expected FIRST-LAST, two ports from 1 to 65535 in ascending order");
}

std::uint16_t usual_port(const Environment& environment) {
  constexpr std::uint16_t kUsual = 7700;
  const std::string range = environment.text("ROTA_PORTS");
  return range.empty() ? kUsual : to_ports("ROTA_PORTS", range).first;
}

std::string ask_for_first() {
  return ", but not where rank 0 is: for all ranks, set MASTER_ADDR to the name or the address of "
         "the host of rank 0";
}

}  // namespace rota::cluster

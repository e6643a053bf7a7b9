// How far a job is meant to reach.
#include "launcher/plan/reach.h"

#include <rota/error.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/transports.h"
#include "launcher/plan/devices.h"
#include "launcher/plan/layout.h"
#include "launcher/plan/one_slot_each.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

cluster::HostFile read_hostfile(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw UsageError("--hostfile " + path + ": it cannot be read");
  return {.path = path, .text = std::move(text)};
}

// Whoever is one process of an MPI program is told of the file that its launcher has read; and what
// a rank or an evaluator of rotarun's starts has nothing to do on those hosts.
std::optional<cluster::HostFile> read_default_hostfile(const cluster::Environment& environment) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "ROTA_RENDEZVOUS_FD", "ROTA_ROLE"}) {
    if (environment.has(name)) return std::nullopt;
  }
  for (const std::string_view name : cluster::kHostFileVariables) {
    const std::string path = environment.text(name);
    if (path.empty()) continue;
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
      throw SpecificationError(std::string(name) + " is " + path +
                               ", and that file cannot be read: unset it, or give the hosts by "
                               "--host or --hostfile");
    }
    return cluster::HostFile{.path = path, .text = std::move(text), .given_by = std::string(name)};
  }
  return std::nullopt;
}

std::optional<std::size_t> declared_count(const cluster::Specification& chosen) {
  if (chosen.world_size) return chosen.world_size;
  if (!chosen.own_host) return std::nullopt;
  const auto& own = chosen.hosts[*chosen.own_host].slots;
  return own ? own : chosen.usual_slots;
}

std::optional<std::size_t> declared_most(const cluster::Specification& chosen) {
  const std::size_t own_host = chosen.own_host.value_or(chosen.hosts.size());
  return own_host < chosen.hosts.size() ? chosen.hosts[own_host].most_slots : std::nullopt;
}

// One that lies where keys usually do is for jobs of several hosts, and not named for this one.
bool names_key(const Options& options, const cluster::Given& given) {
  return options.insecure || options.key_fd || !options.key_file.empty() ||
         !given.environment.text("ROTA_KEY_FILE").empty();
}

std::string table_text(const Options& options, const cluster::Given& given,
                       const cluster::Specification& chosen, std::size_t slot_count) {
  try {
    const RankTable table = declared_table(options, given, chosen, slot_count).table;
    const std::string note = note_on_slots(chosen, slot_count);
    return (note.empty() ? "" : "note: " + note + "\n") + to_text(table);
  } catch (const std::runtime_error& error) {
    return std::string("no table: ") + error.what() + "\n";
  }
}

}  // namespace

cluster::Given gather_given(const Options& options, const std::vector<std::string>& environment,
                            const std::string& host_name) {
  cluster::Given given{.host_name = host_name};
  if (options.this_host) return given;
  given.environment = cluster::Environment(environment);
  // By it a list may have another name for this host than it has itself.
  if (const std::string* name = given.environment.find("ROTA_HOST")) given.host_name = *name;
  const auto& program = first_of_ranks(options.groups).program;
  if (!program.empty()) given.arguments.assign(program.begin() + 1, program.end());
  given.host_list = options.host_list;
  if (options.hostfile) given.hostfile = read_hostfile(*options.hostfile);
  if (!options.host_list && !options.hostfile) {
    given.hostfile = read_default_hostfile(given.environment);
  }
  given.device_count = device_count(environment);
  const bool are_listed = options.host_list || given.hostfile ||
                          given.environment.has("ROTA_HOSTS") ||
                          given.environment.has("SLURM_JOB_ID");
  if (are_listed) given.host_addresses = os::own_addresses();
  return given;
}

cluster::Reading read_given(const cluster::Given& given) {
  try {
    return cluster::read(given);
  } catch (const Error& error) {
    throw SpecificationError(error.what());
  }
}

Reach decide_reach(const Options& options, const cluster::Given& given) {
  const cluster::Reading reading = read_given(given);
  const cluster::Specification& chosen = reading.chosen;
  const bool reaches_beyond = cluster::reaches_beyond_this_host(chosen);
  const bool is_rank = chosen.level == cluster::Level::kProcess;
  if (is_rank && !reaches_beyond) return {};
  require_declared_count(options, chosen);
  const bool are_ranks_here = is_rank ? are_on_one_machine(chosen) && !names_key(options, given)
                                      : cluster::ring_count(chosen) == 1;
  const bool are_to_share = options.transport && may_share_memory(options);
  if (reaches_beyond && !are_ranks_here && are_to_share) {
    throw UsageError("--transport " + std::string(options.transport->name) +
                     " is for one host, and " + chosen.source + " says " +
                     cluster::to_text(chosen) + ": leave it out");
  }
  if (is_rank) return {.hosts = as_hosts(chosen, given, names_key(options, given))};
  if (reaches_beyond) return {.hosts = chosen};
  return {.declared = {.count = declared_count(chosen),
                       .most = declared_most(chosen),
                       .source = chosen.source}};
}

void require_declared_count(const Options& options, const cluster::Specification& chosen) {
  if (!chosen.world_size || !options.rank_count) return;
  if (*options.rank_count == *chosen.world_size) return;
  throw SpecificationError(
      "--np is " + std::to_string(*options.rank_count) + ", and " +
      (chosen.world_source.empty()
           ? chosen.source + " says " + cluster::to_text(chosen)
           : chosen.world_source + " is " + std::to_string(*chosen.world_size)) +
      ": leave out the one that is wrong");
}

std::string note_on_slots(const cluster::Specification& chosen, std::size_t slot_count) {
  if (!cluster::has_unknown_slots(chosen)) return {};
  return "what slots the other hosts have is not known here: where none are declared, they are "
         "taken to be as many as here, " +
         std::to_string(chosen.usual_slots.value_or(slot_count));
}

DeclaredTable declared_table(const Options& options, const cluster::Given& given,
                             const cluster::Specification& chosen, std::size_t slot_count) {
  // Ranks that each have a launcher of their own are seated already.
  if (chosen.level == cluster::Level::kProcess) {
    DeclaredTable seated{.table = cluster::make_table(chosen, slot_count),
                         .own_ranks = {*chosen.rank}};
    const bool share_memory =
        are_on_one_machine(chosen) && !names_key(options, given) && may_share_memory(options);
    if (share_memory) seated.table.transport = base::transport_for(base::Sharing::kAll).name;
    return seated;
  }
  const std::vector<std::size_t> slots = cluster::slots_of(chosen, slot_count);
  std::vector<HostSlots> hosts;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    if (chosen.hosts[host].name.empty()) {
      throw SpecificationError(chosen.source +
                               " does not name every host, so that there is no table yet");
    }
    hosts.push_back({chosen.hosts[host].name, slots[host], chosen.hosts[host].most_slots});
  }
  LayoutRules rules = layout_rules(options);
  if (!rules.rank_count) rules.rank_count = chosen.world_size;
  const Layout layout = lay_out(hosts, rules);
  DeclaredTable declared;
  RankTable& table = declared.table;
  table.epoch = chosen.epoch.value_or(0);
  table.source = chosen.source;
  table.transport = base::transport_between(islands_of(layout, options), options.transport);
  for (const Seat& seat : layout.seats) {
    const cluster::Host& host = chosen.hosts[seat.host];
    if (chosen.own_host == seat.host) declared.own_ranks.push_back(table.rows.size());
    table.rows.push_back({.local_rank = seat.local_rank,
                          .host = host.name,
                          .address = host.port ? cluster::name_of(chosen, seat.host) : ""});
  }
  return declared;
}

Explanation explain_reach(const Options& options, const cluster::Given& given,
                          std::size_t slot_count) {
  Explanation explanation{.text = cluster::explain(given)};
  try {
    const cluster::Specification chosen = read_given(given).chosen;
    explanation.is_decided = true;
    const Reach reach = decide_reach(options, given);
    explanation.is_alone = !reach.hosts;
    if (reach.hosts) explanation.text += table_text(options, given, chosen, slot_count);
    if (reach.hosts && is_one_slot_each(*reach.hosts)) {
      explanation.text += "rotarun starts rank " + std::to_string(*chosen.rank) +
                          " alone, and meets those of the others at " + reach.hosts->meeting->name +
                          "\n";
    }
  } catch (const UsageError& error) {
    explanation.text += table_text(options, given, read_given(given).chosen, slot_count) +
                        "rotarun would not start it: " + error.what() + "\n";
  } catch (const SpecificationError& error) {
    if (explanation.is_decided) explanation.text += std::string(error.what()) + "\n";
    explanation.is_decided = false;
  }
  return explanation;
}

}  // namespace rota::launcher

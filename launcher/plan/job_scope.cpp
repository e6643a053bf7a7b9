// Decides the job scope: whether this host runs a job alone, or with other hosts.
#include "launcher/plan/job_scope.h"

#include <rota/error.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/transports.h"
#include "cluster/meeting_point.h"
#include "launcher/plan/devices.h"
#include "launcher/plan/layout.h"
#include "launcher/plan/nested_launch.h"
#include "os/address.h"
#include "os/link_local.h"

namespace rota::launcher {
namespace {

// Returns nothing if the file cannot be read. A folder can be opened, but reading it throws.
std::optional<std::string> read_text(const std::string& path) {
  try {
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return file ? std::optional(std::move(text)) : std::nullopt;
  } catch (const std::ios_base::failure&) {
    return std::nullopt;
  }
}

cluster::HostFile read_hostfile(const std::string& path) {
  auto text = read_text(path);
  if (!text) throw UsageError("--hostfile " + path + ": the file cannot be read");
  return {.path = path, .text = std::move(*text)};
}

// Reads the host file that a variable names, except in two cases. A process of an MPI program
// inherits the variable of a host file that its launcher has already used. A program that a rank or
// an evaluator of rotarun starts must not use those hosts.
std::optional<cluster::HostFile> read_default_hostfile(const cluster::Environment& environment) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "ROTA_RENDEZVOUS_FD", "ROTA_ROLE"}) {
    if (environment.has(name)) return std::nullopt;
  }
  for (const std::string_view name : cluster::kHostFileVariables) {
    const std::string path = environment.text(name);
    if (path.empty()) continue;
    auto text = read_text(path);
    if (!text) {
      throw SpecificationError(std::string(name) + " is " + path +
                               ", but that file cannot be read: unset the variable, or give the "
                               "hosts with --host or --hostfile");
    }
    return cluster::HostFile{.path = path, .text = std::move(*text), .given_by = std::string(name)};
  }
  return std::nullopt;
}

std::vector<cluster::HostFile> read_node_files(const cluster::Environment& environment) {
  std::vector<cluster::HostFile> files;
  for (const std::string_view name : cluster::kNodeFileVariables) {
    const std::string path = environment.text(name);
    if (path.empty()) continue;
    auto text = read_text(path);
    const bool is_readable = text.has_value();
    files.push_back({.path = path,
                     .text = std::move(text).value_or(""),
                     .given_by = std::string(name),
                     .is_readable = is_readable});
  }
  return files;
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

// Returns whether a key, or --insecure, is given for this job. A key file in a usual place does not
// count: it is for jobs of several hosts.
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
  // ROTA_HOST: the name of this host in a list, if the host's own name differs.
  if (const std::string* name = given.environment.find("ROTA_HOST")) given.host_name = *name;
  const auto& program = first_of_ranks(options.groups).program;
  if (!program.empty()) given.arguments.assign(program.begin() + 1, program.end());
  given.host_list = options.host_list;
  if (options.hostfile) given.hostfile = read_hostfile(*options.hostfile);
  if (!options.host_list && !options.hostfile) {
    given.hostfile = read_default_hostfile(given.environment);
  }
  given.node_files = read_node_files(given.environment);
  given.device_count = device_count(environment);
  const bool are_listed = options.host_list || given.hostfile || !given.node_files.empty() ||
                          given.environment.has("ROTA_HOSTS") ||
                          given.environment.has("SLURM_JOB_ID");
  if (!are_listed) return given;
  given.host_addresses = os::own_addresses();
  const std::vector<std::string> of_links = os::own_link_local_addresses();
  given.host_addresses.insert(given.host_addresses.end(), of_links.begin(), of_links.end());
  return given;
}

cluster::Reading read_given(const cluster::Given& given) {
  try {
    return cluster::read(given);
  } catch (const Error& error) {
    throw SpecificationError(error.what());
  }
}

JobScope decide_scope(const Options& options, const cluster::Given& given) {
  const cluster::Reading reading = read_given(given);
  const cluster::Specification& chosen = reading.chosen;
  const bool reaches_beyond = cluster::reaches_beyond_this_host(chosen);
  const bool is_rank = chosen.level == cluster::Level::kProcess;
  if (is_rank && !reaches_beyond) return {};
  require_declared_count(options, chosen);
  const bool are_ranks_here =
      is_rank ? cluster::are_on_one_machine(chosen) && !names_key(options, given)
              : cluster::ring_count(chosen) == 1;
  const bool are_to_share = options.transport && may_share_memory(options);
  if (reaches_beyond && !are_ranks_here && are_to_share) {
    throw UsageError("--transport " + std::string(options.transport->name) +
                     " works on one host only, but " + chosen.source + " says " +
                     cluster::to_text(chosen) + ": leave out --transport");
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
      "--np is " + std::to_string(*options.rank_count) + ", but " +
      (chosen.world_source.empty()
           ? chosen.source + " says " + cluster::to_text(chosen)
           : chosen.world_source + " is " + std::to_string(*chosen.world_size)) +
      ": leave out the wrong one");
}

std::string note_on_slots(const cluster::Specification& chosen, std::size_t slot_count) {
  if (!cluster::has_unknown_slots(chosen)) return {};
  return "this host does not know the slots of the other hosts: a host without declared slots is "
         "assumed to have as many as this one, " +
         std::to_string(chosen.usual_slots.value_or(slot_count));
}

DeclaredTable declared_table(const Options& options, const cluster::Given& given,
                             const cluster::Specification& chosen, std::size_t slot_count) {
  // If each rank has its own launcher, the places of the ranks are decided already.
  if (chosen.level == cluster::Level::kProcess) {
    DeclaredTable declared{.table = cluster::make_table(chosen, slot_count),
                           .own_ranks = {*chosen.rank}};
    const bool share_memory = cluster::are_on_one_machine(chosen) && !names_key(options, given) &&
                              may_share_memory(options);
    if (share_memory) declared.table.transport = base::transport_for(base::Sharing::kAll).name;
    if (goes_over_mpi(options)) declared.table.transport = base::kOverMpi;
    return declared;
  }
  const std::vector<std::size_t> slots = cluster::slots_of(chosen, slot_count);
  std::vector<HostSlots> hosts;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    if (chosen.hosts[host].name.empty()) {
      throw SpecificationError(chosen.source +
                               " does not name every host, so there is no rank table yet");
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
  table.transport = base::transport_between(domains_of(layout, options), options.transport);
  for (const RankPlace& place : layout.places) {
    const cluster::Host& host = chosen.hosts[place.host];
    if (chosen.own_host == place.host) declared.own_ranks.push_back(table.rows.size());
    table.rows.push_back({.local_rank = place.local_rank,
                          .host = host.name,
                          .address = host.port ? cluster::name_of(chosen, place.host) : ""});
  }
  return declared;
}

Explanation explain_scope(const Options& options, const cluster::Given& given,
                          std::size_t slot_count) {
  Explanation explanation{.text = cluster::explain(given)};
  try {
    const cluster::Specification chosen = read_given(given).chosen;
    explanation.is_decided = true;
    const JobScope scope = decide_scope(options, given);
    explanation.is_alone = !scope.hosts;
    explanation.hosts = scope.hosts;
    if (scope.hosts) explanation.text += table_text(options, given, chosen, slot_count);
    if (scope.hosts && is_nested_launch(*scope.hosts)) {
      explanation.text += "rotarun starts rank " + std::to_string(*chosen.rank) +
                          " only, and joins the other ranks at " + scope.hosts->rendezvous->name +
                          "\n";
    }
  } catch (const UsageError& error) {
    explanation.text += table_text(options, given, read_given(given).chosen, slot_count) +
                        "rotarun would not start the job: " + error.what() + "\n";
  } catch (const SpecificationError& error) {
    if (explanation.is_decided) explanation.text += std::string(error.what()) + "\n";
    explanation.is_decided = false;
  }
  return explanation;
}

}  // namespace rota::launcher

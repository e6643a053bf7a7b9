// How far a job is meant to reach.
#include "launcher/reach.h"

#include <rota/error.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/islands.h"
#include "launcher/one_slot_each.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

cluster::HostFile read_hostfile(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw UsageError("--hostfile " + path + ": it cannot be read");
  return {.path = path, .text = std::move(text)};
}

cluster::Reading read_given(const cluster::Given& given) {
  try {
    return cluster::read(given);
  } catch (const Error& error) {
    throw SpecificationError(error.what());
  }
}

std::optional<std::size_t> declared_count(const cluster::Specification& chosen) {
  if (chosen.world_size) return chosen.world_size;
  return chosen.own_host ? chosen.hosts[*chosen.own_host].slots : std::nullopt;
}

// Where slots are not declared, those of this host stand for them.
std::string table_text(const Options& options, const cluster::Specification& chosen,
                       std::size_t slot_count) {
  const auto is_open = [](const cluster::Host& host) {
    return cluster::is_in_ring(host.role) && !host.slots;
  };
  try {
    const RankTable table = declared_table(options, chosen, slot_count);
    if (chosen.world_size || std::ranges::none_of(chosen.hosts, is_open)) return to_text(table);
    return "note: where no slots are declared, they are taken to be as many as here, " +
           std::to_string(slot_count) + "\n" + to_text(table);
  } catch (const Error& error) {
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
  const bool are_listed = options.host_list || options.hostfile ||
                          given.environment.has("ROTA_HOSTS") ||
                          given.environment.has("SLURM_JOB_ID");
  if (are_listed) given.host_addresses = os::own_addresses();
  return given;
}

Reach decide_reach(const Options& options, const cluster::Given& given) {
  const cluster::Reading reading = read_given(given);
  const cluster::Specification& chosen = reading.chosen;
  const bool reaches_beyond = cluster::reaches_beyond_this_host(chosen);
  const bool is_rank = chosen.level == cluster::Level::kProcess;
  if (is_rank && !reaches_beyond) return {};
  if (chosen.world_size && options.rank_count && *options.rank_count != *chosen.world_size) {
    throw SpecificationError("--np is " + std::to_string(*options.rank_count) + ", and " +
                             (cluster::read_declared(given.environment).world_size
                                  ? "ROTA_WORLD is " + std::to_string(*chosen.world_size)
                                  : chosen.source + " says " + cluster::to_text(chosen)) +
                             ": leave out the one that is wrong");
  }
  const bool are_ranks_here = !is_rank && cluster::ring_count(chosen) == 1;
  if (reaches_beyond && !are_ranks_here && options.transport == Transport::kSharedMemory) {
    throw UsageError("--transport shm is for one host, and " + chosen.source + " says " +
                     cluster::to_text(chosen) + ": leave it out");
  }
  if (is_rank) return {.hosts = as_hosts(chosen, given)};
  if (reaches_beyond) return {.hosts = chosen};
  return {.declared = {.count = declared_count(chosen), .source = chosen.source}};
}

RankTable declared_table(const Options& options, const cluster::Specification& chosen,
                         std::size_t slot_count) {
  RankTable table = cluster::make_table(chosen, slot_count);
  if (options.transport == Transport::kTcp && base::shares_memory(table.transport)) {
    table.transport = "tcp";
  }
  return table;
}

Explanation explain_reach(const Options& options, const cluster::Given& given,
                          std::size_t slot_count) {
  Explanation explanation{.text = cluster::explain(given)};
  try {
    const cluster::Specification chosen = read_given(given).chosen;
    explanation.is_decided = true;
    const Reach reach = decide_reach(options, given);
    explanation.is_alone = !reach.hosts;
    if (reach.hosts) explanation.text += table_text(options, chosen, slot_count);
    if (reach.hosts && is_one_slot_each(*reach.hosts)) {
      explanation.text += "rotarun starts rank " + std::to_string(*chosen.rank) +
                          " alone, and meets those of the others at " + reach.hosts->meeting->name +
                          "\n";
    }
  } catch (const UsageError& error) {
    explanation.text += table_text(options, read_given(given).chosen, slot_count) +
                        "rotarun would not start it: " + error.what() + "\n";
  } catch (const SpecificationError& error) {
    if (explanation.is_decided) explanation.text += std::string(error.what()) + "\n";
    explanation.is_decided = false;
  }
  return explanation;
}

}  // namespace rota::launcher

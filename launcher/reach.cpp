// How far a job is meant to reach, and whether this rotarun can start it.
#include "launcher/reach.h"

#include <rota/error.h>

#include <algorithm>
#include <fstream>
#include <iterator>

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

// Empty where nothing is in the way.
std::string obstacle_to(const cluster::Specification& chosen) {
  if (!cluster::reaches_beyond_this_host(chosen)) return {};
  return chosen.source + " says " + cluster::to_text(chosen) +
         ", and this version starts ranks on one host only: start the program itself everywhere, "
         "as docs/guide/by_hand.md says, or give --this-host for a world of this host alone";
}

std::optional<std::size_t> declared_count(const cluster::Specification& chosen) {
  if (chosen.world_size) return chosen.world_size;
  return chosen.own_host ? chosen.hosts[*chosen.own_host].slots : std::nullopt;
}

// Where slots are not declared, those of this host stand for them.
std::string table_text(const cluster::Specification& chosen, std::size_t slot_count) {
  const auto is_open = [](const cluster::Host& host) {
    return cluster::is_in_ring(host.role) && !host.slots;
  };
  try {
    std::string table = to_text(cluster::make_table(chosen, slot_count));
    if (chosen.world_size || std::ranges::none_of(chosen.hosts, is_open)) return table;
    return "note: where no slots are declared, they are taken to be as many as here, " +
           std::to_string(slot_count) + "\n" + table;
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
  if (!options.program.empty()) {
    given.arguments.assign(options.program.begin() + 1, options.program.end());
  }
  given.host_list = options.host_list;
  if (options.hostfile) given.hostfile = read_hostfile(*options.hostfile);
  return given;
}

DeclaredRanks require_startable(const Options& options, const cluster::Given& given) {
  const cluster::Reading reading = read_given(given);
  const cluster::Specification& chosen = reading.chosen;
  if (const std::string obstacle = obstacle_to(chosen); !obstacle.empty()) {
    throw UsageError(obstacle);
  }
  const bool is_world = chosen.level == cluster::Level::kHost && chosen.world_size;
  if (is_world && options.rank_count && *options.rank_count != *chosen.world_size) {
    throw SpecificationError("--np is " + std::to_string(*options.rank_count) + ", and " +
                             (cluster::read_declared(given.environment).world_size
                                  ? "ROTA_WORLD is " + std::to_string(*chosen.world_size)
                                  : chosen.source + " says " + cluster::to_text(chosen)) +
                             ": leave out the one that is wrong");
  }
  if (chosen.level == cluster::Level::kProcess) return {};
  return {.count = declared_count(chosen), .source = chosen.source};
}

Explanation explain_reach(const Options& options, const cluster::Given& given,
                          std::size_t slot_count) {
  Explanation explanation{.text = cluster::explain(given)};
  try {
    const cluster::Specification chosen = read_given(given).chosen;
    explanation.is_decided = true;
    if (const std::string obstacle = obstacle_to(chosen); !obstacle.empty()) {
      explanation.text +=
          table_text(chosen, slot_count) + "rotarun would not start it: " + obstacle + "\n";
      return explanation;
    }
    require_startable(options, given);
    explanation.is_startable = true;
  } catch (const SpecificationError& error) {
    if (explanation.is_decided) explanation.text += std::string(error.what()) + "\n";
    explanation.is_decided = false;
  }
  return explanation;
}

}  // namespace rota::launcher

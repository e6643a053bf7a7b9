// Decides which CPUs each rank is bound to.
#include "launcher/plan/placement.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/assert.h"

namespace rota::launcher {
namespace {

std::map<int, std::vector<std::size_t>> by_node(const std::vector<Core>& cores) {
  std::map<int, std::vector<std::size_t>> nodes;
  for (std::size_t i = 0; i < cores.size(); ++i) nodes[cores[i].numa_node].push_back(i);
  return nodes;
}

// Returns the cores in the order in which ranks take them. A core that takes several ranks in a row
// occurs several times.
std::vector<Cpus> deal_cores(const std::vector<Core>& cores, MapBy map_by) {
  std::vector<Cpus> places;
  if (map_by == MapBy::kNuma) {
    const auto nodes = by_node(cores);
    for (std::size_t round = 0; places.size() < cores.size(); ++round) {
      for (const auto& [node, members] : nodes) {
        if (round < members.size()) places.push_back(cores[members[round]].cpus);
      }
    }
    return places;
  }
  for (const Core& core : cores) {
    const bool is_shared = map_by != MapBy::kCore;
    places.insert(places.end(), is_shared ? core.cpus.size() : 1, core.cpus);
  }
  return places;
}

// Returns the CPUs of the cores, one core after another.
Cpus cpus_of(const std::vector<Core>& cores, const std::vector<std::size_t>& members) {
  Cpus cpus;
  for (const std::size_t member : members) {
    cpus.insert(cpus.end(), cores[member].cpus.begin(), cores[member].cpus.end());
  }
  return cpus;
}

// Cuts pieces of `count` CPUs off `cpus`. The rest, which is fewer than `count`, stays in `cpus`.
std::vector<Cpus> cut(Cpus& cpus, std::size_t count) {
  std::vector<Cpus> pieces;
  auto begin = cpus.begin();
  for (; static_cast<std::size_t>(cpus.end() - begin) >= count;
       begin += static_cast<std::ptrdiff_t>(count)) {
    pieces.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  cpus.erase(cpus.begin(), begin);
  return pieces;
}

// Returns places of `count` CPUs each. With kNuma, places alternate between the nodes while they
// fit into a node. The last places combine the CPUs that remain of several nodes.
std::vector<Cpus> deal_cpus(const std::vector<Core>& cores, MapBy map_by, std::size_t count) {
  if (map_by != MapBy::kNuma) {
    std::vector<std::size_t> all(cores.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Cpus cpus = cpus_of(cores, all);
    return cut(cpus, count);
  }
  std::vector<std::vector<Cpus>> pieces;  // Of each node.
  Cpus left;
  for (const auto& [node, members] : by_node(cores)) {
    Cpus cpus = cpus_of(cores, members);
    pieces.push_back(cut(cpus, count));
    left.insert(left.end(), cpus.begin(), cpus.end());
  }
  std::vector<Cpus> places;
  std::size_t round_count = 0;
  for (const auto& of_node : pieces) round_count = std::max(round_count, of_node.size());
  for (std::size_t round = 0; round < round_count; ++round) {
    for (const auto& of_node : pieces) {
      if (round < of_node.size()) places.push_back(of_node[round]);
    }
  }
  for (Cpus& piece : cut(left, count)) places.push_back(std::move(piece));
  return places;
}

// Returns all CPUs of every node that has one of `cpus`.
Cpus widen_to_nodes(const Cpus& cpus, const std::vector<Core>& cores) {
  Cpus wide;
  for (const auto& [node, members] : by_node(cores)) {
    const Cpus of_node = cpus_of(cores, members);
    const bool is_touched = std::any_of(cpus.begin(), cpus.end(), [&](int cpu) {
      return std::find(of_node.begin(), of_node.end(), cpu) != of_node.end();
    });
    if (is_touched) wide.insert(wide.end(), of_node.begin(), of_node.end());
  }
  return wide;
}

}  // namespace

BindTo binding_of(const Options& options) noexcept {
  if (options.bind_to) return *options.bind_to;
  if (options.map_by == MapBy::kCore) return BindTo::kCore;
  return options.map_by == MapBy::kNuma ? BindTo::kNuma : BindTo::kNone;
}

std::vector<Core> limit_cores(std::vector<Core> cores, std::size_t slot_count) {
  std::size_t cpu_count = 0;
  const auto is_beyond = [&](const Core& core) {
    const bool beyond = cpu_count >= slot_count;
    cpu_count += core.cpus.size();
    return beyond;
  };
  cores.erase(std::find_if(cores.begin(), cores.end(), is_beyond), cores.end());
  return cores;
}

Binding binding_rules(const Options& options) noexcept {
  return {.bind_to = binding_of(options),
          .map_by = options.map_by,
          .cpus_per_rank = options.cpus_per_rank};
}

std::vector<Cpus> place_ranks(const std::vector<Core>& cores, std::size_t rank_count,
                              const Binding& binding) {
  if (binding.bind_to == BindTo::kNone) return std::vector<Cpus>(rank_count);
  std::vector<Cpus> places = binding.cpus_per_rank
                                 ? deal_cpus(cores, binding.map_by, *binding.cpus_per_rank)
                                 : deal_cores(cores, binding.map_by);
  ROTA_ASSERT(!places.empty());
  for (Cpus& place : places) {
    if (binding.bind_to == BindTo::kNuma) place = widen_to_nodes(place, cores);
    std::sort(place.begin(), place.end());
  }
  std::vector<Cpus> of_ranks;
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    of_ranks.push_back(places[rank % places.size()]);
  }
  return of_ranks;
}

std::string to_text(const Cpus& cpus) {
  std::string text;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[begin]);
    if (end > begin) text.append("-").append(std::to_string(cpus[end]));
    begin = end + 1;
  }
  return text;
}

}  // namespace rota::launcher

// Which CPUs a rank is bound to.
#include "launcher/placement.h"

#include <algorithm>
#include <map>

#include "base/assert.h"

namespace rota::launcher {
namespace {

std::map<int, std::vector<std::size_t>> by_node(const std::vector<Core>& cores) {
  std::map<int, std::vector<std::size_t>> nodes;
  for (std::size_t i = 0; i < cores.size(); ++i) nodes[cores[i].numa_node].push_back(i);
  return nodes;
}

// The cores in the order in which ranks take them; one that takes several ranks before the next
// core's turn is there several times.
std::vector<std::size_t> dealing_order(const std::vector<Core>& cores, MapBy map_by) {
  std::vector<std::size_t> order;
  if (map_by == MapBy::kNuma) {
    const auto nodes = by_node(cores);
    for (std::size_t round = 0; order.size() < cores.size(); ++round) {
      for (const auto& [node, members] : nodes) {
        if (round < members.size()) order.push_back(members[round]);
      }
    }
    return order;
  }
  for (std::size_t i = 0; i < cores.size(); ++i) {
    order.insert(order.end(), map_by == MapBy::kSlot ? cores[i].cpus.size() : 1, i);
  }
  return order;
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

std::vector<Cpus> place_ranks(const std::vector<Core>& cores, std::size_t rank_count,
                              BindTo bind_to, MapBy map_by) {
  if (bind_to == BindTo::kNone) return std::vector<Cpus>(rank_count);
  ROTA_ASSERT(!cores.empty());
  const auto order = dealing_order(cores, map_by);
  const auto nodes = by_node(cores);
  std::vector<Cpus> places;
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    const Core& core = cores[order[rank % order.size()]];
    Cpus cpus = core.cpus;
    if (bind_to == BindTo::kNuma) {
      cpus.clear();
      for (const std::size_t member : nodes.at(core.numa_node)) {
        cpus.insert(cpus.end(), cores[member].cpus.begin(), cores[member].cpus.end());
      }
    }
    std::sort(cpus.begin(), cpus.end());
    places.push_back(std::move(cpus));
  }
  return places;
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

// Finds the hosts in a rank table, and describes the ranks of each host.
#include "communicator/topology.h"

#include <algorithm>
#include <set>

#include "base/counted.h"
#include "base/transports.h"

namespace rota {
namespace {

// Returns a text such as "0-2,5".
std::string in_runs(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[begin]);
    if (end - begin > 1) text += "-" + std::to_string(ranks[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace

std::vector<std::size_t> hosts_of(const RankTable& table) {
  std::vector<std::size_t> hosts;
  for (const RankRow& row : table.rows) {
    const auto first = std::ranges::find(table.rows, row.host, &RankRow::host);
    hosts.push_back(static_cast<std::size_t>(first - table.rows.begin()));
  }
  return hosts;
}

std::size_t host_count_of(std::span<const std::size_t> hosts) {
  return std::set<std::size_t>(hosts.begin(), hosts.end()).size();
}

Topology topology_of(const RankTable& table, bool encrypts) {
  return {.transport = table.transport,
          .encrypts = encrypts && base::listens(table.transport),
          .hosts = hosts_of(table)};
}

std::string hosts_in_words(const Topology& topology) {
  std::string text;
  for (std::size_t host = 0; host < topology.hosts.size(); ++host) {
    if (topology.hosts[host] != host) continue;
    std::vector<std::size_t> ranks;
    for (std::size_t rank = host; rank < topology.hosts.size(); ++rank) {
      if (topology.hosts[rank] == host) ranks.push_back(rank);
    }
    text += (text.empty() ? "" : " ") + in_runs(ranks);
  }
  return text;
}

std::string to_text(const Topology& topology) {
  const std::size_t rank_count = topology.hosts.size();
  const std::size_t host_count = host_count_of(topology.hosts);
  return base::counted_ranks(rank_count) + " on " + base::counted_hosts(host_count) + " (" +
         hosts_in_words(topology) + ") over " + (topology.encrypts ? "encrypted " : "") +
         topology.transport;
}

}  // namespace rota

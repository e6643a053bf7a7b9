// The topology of a job: which ranks share a host, and the transport between ranks. The best plan
// depends on the topology and on the byte count.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <rota/rank_table.h>

namespace rota {

struct Topology {
  std::string transport;           // As in the rank table.
  bool encrypts = false;           // Whether traffic over tcp is encrypted.
  std::vector<std::size_t> hosts;  // Index = rank: the first rank of its host.
  friend bool operator==(const Topology&, const Topology&) = default;
};

// Returns for each rank the first rank of the same host. Index = rank.
std::vector<std::size_t> hosts_of(const RankTable& table);
std::size_t host_count_of(std::span<const std::size_t> hosts);

// `encrypts` counts only for a transport that uses tcp.
Topology topology_of(const RankTable& table, bool encrypts);

// Returns the ranks of each host, such as "0-1 2-3". The hosts are in the order of their first
// ranks. In "0,2 1,3", ranks are assigned to hosts in turn.
std::string hosts_in_words(const Topology& topology);

// Returns a text such as "4 ranks on 2 hosts (0-1 2-3) over tcp".
std::string to_text(const Topology& topology);

}  // namespace rota

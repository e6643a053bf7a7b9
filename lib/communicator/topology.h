// Which ranks share a host, and how ranks reach each other: what the best plan depends on, beside
// bytes.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <rota/rank_table.h>

namespace rota {

struct Topology {
  std::string transport;           // As in the rank table.
  bool encrypts = false;           // What goes over tcp.
  std::vector<std::size_t> hosts;  // Index = rank: the first rank of its host.
  friend bool operator==(const Topology&, const Topology&) = default;
};

// Index = rank: the first rank of its host.
std::vector<std::size_t> hosts_of(const RankTable& table);
std::size_t host_count_of(std::span<const std::size_t> hosts);

// Encryption counts where there is something to encrypt.
Topology topology_of(const RankTable& table, bool encrypts);

// "0-1 2-3": the ranks of each host, hosts in the order of their first ranks. "0,2 1,3" where they
// are dealt around.
std::string hosts_in_words(const Topology& topology);

// "4 ranks on 2 hosts (0-1 2-3) over tcp"
std::string to_text(const Topology& topology);

}  // namespace rota

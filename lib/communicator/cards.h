// Ranks without a launcher exchange cards: on which machine each of them is, and where it listens.
// From the cards, all ranks derive the same rank table and the same shared-memory domains.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <rota/rank_table.h>

#include "base/domains.h"
#include "base/time.h"
#include "rendezvous/client.h"

namespace rota {

struct Card {
  std::string domain;         // Ranks with the same text can share memory.
  std::string host;           // The name of the host.
  std::string local_name;     // Where the rank hands over memory, if it is the first of its domain.
  std::string rank_0_host{};  // The address at which it has reached rank 0; empty on rank 0.
  std::string cpus{};         // The CPUs that the rank may use: see cpu_bits().
};

// Returns a bit for each CPU, in bytes, the lowest first.
std::string cpu_bits(const std::vector<int>& cpus);

std::string encode(const Card& card);

// Throws Error kBadData if the text does not come from encode().
Card decode_card(std::string_view text);

// Returns the domains, numbered in the order of their first ranks.
base::Domains domains_of(const std::vector<Card>& cards);

// Adds to a table without addresses what the cards say about hosts.
void add_hosts(const std::vector<Card>& cards, RankTable& table);

// Returns whether each rank on the machine of `rank` can have its own CPU. A launcher may bind each
// rank to CPUs of its own, so the CPUs of all ranks of the machine count.
bool may_spin(const std::vector<Card>& cards, std::size_t rank);

// Returns whether a host, one end of a connection to rank 0, is a numeric address that other
// machines can use, too: not empty, and not loopback.
bool can_be_used_elsewhere(const std::string& host);

// Returns the address at which other machines have reached rank 0; loopback if every rank has
// reached it there.
std::string host_of_rank_0(const std::vector<Card>& cards);

// Gives each rank the texts of all ranks, in rank order. All ranks must call it, with the same
// `topic`, a word that no other call has. Throws what Client's functions throw.
std::vector<std::string> exchange(rendezvous::Client& client, std::size_t rank,
                                  std::size_t world_size, const std::string& topic,
                                  const std::string& own, base::TimePoint deadline);

}  // namespace rota

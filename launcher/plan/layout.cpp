// Deals ranks to hosts, and then numbers the ranks.
#include "launcher/plan/layout.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"
#include "base/counted.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

using Counts = std::vector<std::size_t>;

std::size_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::string mapping_text(const LayoutRules& rules) {
  return "--map-by ppr:" + std::to_string(rules.ranks_per_node) + ":node";
}

// Fills all slots once, while ranks remain: host after host, or one rank on each host in turn.
void deal_round(const Counts& slots, MapBy map_by, std::size_t& left, Counts& counts) {
  Counts room = slots;
  while (left > 0 && sum(room) > 0) {
    for (std::size_t host = 0; host < room.size(); ++host) {
      const std::size_t most =
          map_by == MapBy::kNode ? std::min<std::size_t>(1, room[host]) : room[host];
      const std::size_t taken = std::min(left, most);
      counts[host] += taken;
      room[host] -= taken;
      left -= taken;
    }
  }
}

Counts deal(const Counts& slots, const LayoutRules& rules) {
  Counts counts(slots.size());
  if (rules.map_by == MapBy::kFixedPerNode) {
    std::fill(counts.begin(), counts.end(), rules.ranks_per_node);
    return counts;
  }
  std::size_t left = rules.rank_count.value_or(sum(slots));
  while (left > 0) deal_round(slots, rules.map_by, left, counts);
  return counts;
}

std::vector<RankPlace> number(const Counts& counts, RankBy rank_by) {
  std::vector<RankPlace> places;
  if (rank_by == RankBy::kSlot) {
    for (std::size_t host = 0; host < counts.size(); ++host) {
      for (std::size_t local = 0; local < counts[host]; ++local) places.push_back({host, local});
    }
    return places;
  }
  const std::size_t round_count = *std::max_element(counts.begin(), counts.end());
  for (std::size_t local = 0; local < round_count; ++local) {
    for (std::size_t host = 0; host < counts.size(); ++host) {
      if (local < counts[host]) places.push_back({host, local});
    }
  }
  return places;
}

// Requires that --np is the number of ranks that ppr:N:node fixes.
void require_as_fixed(const std::vector<HostSlots>& hosts, const LayoutRules& rules) {
  if (rules.map_by != MapBy::kFixedPerNode) return;
  const std::size_t made = hosts.size() * rules.ranks_per_node;
  if (rules.rank_count.value_or(made) == made) return;
  throw UsageError("--np is " + std::to_string(*rules.rank_count) + ", but " + mapping_text(rules) +
                   " makes " + base::counted_ranks(made) + " on " +
                   base::counted_hosts(hosts.size()) + ": leave out the wrong one");
}

void require_a_world(const Counts& slots, const LayoutRules& rules) {
  const bool is_fixed = rules.map_by == MapBy::kFixedPerNode;
  if (!is_fixed && sum(slots) == 0) throw UsageError("the hosts have no slots");
  const std::size_t rank_count =
      is_fixed ? slots.size() * rules.ranks_per_node : rules.rank_count.value_or(sum(slots));
  if (rank_count <= rendezvous::kMaxWorldSize) return;
  throw UsageError(base::counted_ranks(rank_count) + " are too many: a job may have " +
                   std::to_string(rendezvous::kMaxWorldSize));
}

// Requires --oversubscribe if there are more ranks than slots, since several hosts may have other
// users too.
void require_room(const std::vector<HostSlots>& hosts, const Counts& slots,
                  const LayoutRules& rules) {
  const std::string remedy = ": give fewer ranks, more slots, or --oversubscribe";
  if (rules.map_by == MapBy::kFixedPerNode) {
    const auto small = std::ranges::find_if(
        slots, [&](std::size_t slot_count) { return slot_count < rules.ranks_per_node; });
    if (small == slots.end()) return;
    throw UsageError(mapping_text(rules) + ": " +
                     hosts[static_cast<std::size_t>(small - slots.begin())].name + " has " +
                     base::counted(*small, "slot", "slots") + remedy);
  }
  const std::size_t slot_count = sum(slots);
  if (rules.rank_count.value_or(0) <= slot_count) return;
  throw UsageError("--np " + std::to_string(*rules.rank_count) + ": the " +
                   base::counted_hosts(hosts.size()) + " have " +
                   base::counted(slot_count, "slot", "slots") + remedy);
}

// Requires that no host has more ranks than its max_slots in the host list, whatever the options
// are.
void require_within_most(const std::vector<HostSlots>& hosts, const Counts& rank_counts) {
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const std::size_t most = hosts[host].most.value_or(rank_counts[host]);
    if (rank_counts[host] <= most) continue;
    throw UsageError(hosts[host].name + " would have " + base::counted_ranks(rank_counts[host]) +
                     ", but its max_slots is " + std::to_string(most) +
                     ": give fewer ranks, or raise max_slots");
  }
}

}  // namespace

LayoutRules layout_rules(const Options& options) {
  return {.rank_count = options.rank_count,
          .map_by = options.map_by,
          .ranks_per_node = options.ranks_per_node,
          .rank_by = options.rank_by,
          .oversubscribe = options.oversubscribe};
}

Layout lay_out(const std::vector<HostSlots>& hosts, const LayoutRules& rules) {
  ROTA_ASSERT(!hosts.empty());
  require_as_fixed(hosts, rules);
  Counts slots;
  for (const HostSlots& host : hosts) {
    slots.push_back(std::min(host.slot_count, host.most.value_or(host.slot_count)));
  }
  require_a_world(slots, rules);
  if (hosts.size() > 1 && !rules.oversubscribe) require_room(hosts, slots, rules);
  Layout layout;
  layout.host_rank_counts = deal(slots, rules);
  require_within_most(hosts, layout.host_rank_counts);
  layout.places = number(layout.host_rank_counts, rules.rank_by);
  const std::size_t rank_count = layout.places.size();
  if (hosts.size() == 1 && rank_count > slots.front() && !rules.oversubscribe) {
    layout.warning = base::counted_ranks(rank_count) + " for " +
                     base::counted(slots.front(), "slot", "slots") +
                     ": the ranks share CPUs (--oversubscribe leaves out this warning)";
  }
  return layout;
}

bool may_share_memory(const Options& options) {
  return !options.transport || options.transport->sharing != base::Sharing::kNone;
}

base::Domains domains_of(const Layout& layout, const Options& options) {
  base::Domains domains = base::each_alone(layout.places.size());
  if (!may_share_memory(options)) return domains;
  for (std::size_t rank = 0; rank < domains.size(); ++rank) {
    domains[rank] = static_cast<std::uint32_t>(layout.places[rank].host);
  }
  return domains;
}

}  // namespace rota::launcher

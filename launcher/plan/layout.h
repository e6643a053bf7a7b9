// Decides which host each rank is on, and the rank's number on that host, its local rank.
//
// Slots are filled in the order that --map-by gives. If there may be more ranks than slots, all
// hosts are filled again from the first one on, so each host gets ranks in proportion to its slots.
// The same hosts and options give the same layout on every host and at any time.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/domains.h"
#include "launcher/command/options.h"

namespace rota::launcher {

struct HostSlots {
  std::string name;
  std::size_t slot_count = 0;
  std::optional<std::size_t> most{};  // The limit, even with --oversubscribe.
};

// The options that decide the layout.
struct LayoutRules {
  std::optional<std::size_t> rank_count{};  // Empty: as map_by fixes it, or one for each slot.
  MapBy map_by = MapBy::kSlot;              // kCore and kNuma act as kSlot here.
  std::size_t ranks_per_node = 0;           // For kFixedPerNode.
  RankBy rank_by = RankBy::kSlot;
  bool oversubscribe = false;
};

LayoutRules layout_rules(const Options& options);

// Where one rank is.
struct RankPlace {
  std::size_t host = 0;
  std::size_t local_rank = 0;  // Among the ranks of its host, in their order.
};

struct Layout {
  std::vector<RankPlace> places;              // Index: rank.
  std::vector<std::size_t> host_rank_counts;  // Index: host. 0: the host has no rank.
  std::string warning;                        // Set if there are more ranks than slots.
};

// Returns whether ranks of one rotarun share memory. They do, unless the user requests a transport
// without shared memory.
bool may_share_memory(const Options& options);
base::Domains domains_of(const Layout& layout, const Options& options);

// `hosts` must not be empty. A single host takes more ranks than it has slots, with a warning
// unless `oversubscribe` is set. Throws UsageError if several hosts have too few slots, if all
// hosts have none, or if a host would have more ranks than its `most`. Also throws UsageError if
// --np is not the number that ppr:N:node makes, or if there are more ranks than a job may have.
Layout lay_out(const std::vector<HostSlots>& hosts, const LayoutRules& rules);

}  // namespace rota::launcher

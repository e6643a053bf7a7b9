// Which host each rank is on, and its number there.
//
// Slots are filled by what --map-by says; where there may be more ranks than slots, all hosts are
// filled again from the first one on, so that each has a share by its slots. The same hosts and
// options give the same layout, wherever and whenever it is made.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/islands.h"
#include "launcher/command/options.h"

namespace rota::launcher {

struct HostSlots {
  std::string name;
  std::size_t slot_count = 0;
  std::optional<std::size_t> most{};  // Whatever is asked for: --oversubscribe too.
};

// What Options say about it.
struct LayoutRules {
  std::optional<std::size_t> rank_count{};  // Empty: what map_by fixes, or one for each slot.
  MapBy map_by = MapBy::kSlot;              // kCore and kNuma are kSlot here.
  std::size_t ranks_per_node = 0;           // Of kFixedPerNode.
  RankBy rank_by = RankBy::kSlot;
  bool oversubscribe = false;
};

LayoutRules layout_rules(const Options& options);

// Where one rank is.
struct Seat {
  std::size_t host = 0;
  std::size_t local_rank = 0;  // Among the ranks of its host, in their order.
};

struct Layout {
  std::vector<Seat> seats;                    // Index: rank.
  std::vector<std::size_t> host_rank_counts;  // Index: host. 0 where no rank is.
  std::string warning;  // Empty, or how many ranks there are for how many slots.
};

// What one rotarun has started shares memory, unless a transport is asked for over which it cannot.
bool may_share_memory(const Options& options);
base::Islands islands_of(const Layout& layout, const Options& options);

// `hosts` has one or more. One host alone takes more ranks than it has slots, with a warning unless
// `oversubscribe` says that this is meant. Throws UsageError where several hosts have too few
// slots, where all have none, where one would have more ranks than its most, or where --np is not
// what ppr:N:node makes.
Layout lay_out(const std::vector<HostSlots>& hosts, const LayoutRules& rules);

}  // namespace rota::launcher

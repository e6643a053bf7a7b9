// The part of a job that one host has.
#include "launcher/plan/host_share.h"

namespace rota::launcher {

Share share_of(const Layout& layout, std::size_t host, const std::vector<Group>& groups,
               const std::string& transport) {
  Share share{.ranks = std::vector<std::size_t>(layout.host_rank_counts[host]),
              .world_size = layout.seats.size(),
              .transport = transport,
              .host_index = host,
              .host_count = layout.host_rank_counts.size()};
  for (std::size_t rank = 0; rank < layout.seats.size(); ++rank) {
    const Seat& seat = layout.seats[rank];
    if (seat.host == host) share.ranks[seat.local_rank] = rank;
  }
  for (const std::size_t rank : share.ranks) share.groups.push_back(group_of_rank(groups, rank));
  return share;
}

std::vector<std::string> describe_bindings(const Share& share, const std::string& host) {
  std::vector<std::string> lines;
  for (std::size_t local = 0; local < share.ranks.size(); ++local) {
    const Cpus& cpus = share.places[local];
    const std::string bound = cpus.size() == 1 ? "bound to CPU " : "bound to CPUs ";
    lines.push_back("rank " + std::to_string(share.ranks[local]) + " on " + host + ": " +
                    (cpus.empty() ? "not bound" : bound + to_text(cpus)));
  }
  return lines;
}

}  // namespace rota::launcher

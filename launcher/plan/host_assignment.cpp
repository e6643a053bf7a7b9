// Takes the assignment of one host from the layout of the job.
#include "launcher/plan/host_assignment.h"

namespace rota::launcher {

HostAssignment assignment_of(const Layout& layout, std::size_t host,
                             const std::vector<Group>& groups, const std::string& transport) {
  HostAssignment assignment{.ranks = std::vector<std::size_t>(layout.host_rank_counts[host]),
                            .world_size = layout.places.size(),
                            .transport = transport,
                            .host_index = host,
                            .host_count = layout.host_rank_counts.size()};
  for (std::size_t rank = 0; rank < layout.places.size(); ++rank) {
    const RankPlace& place = layout.places[rank];
    if (place.host == host) assignment.ranks[place.local_rank] = rank;
  }
  for (const std::size_t rank : assignment.ranks)
    assignment.groups.push_back(group_of_rank(groups, rank));
  return assignment;
}

std::vector<std::string> describe_bindings(const HostAssignment& assignment,
                                           const std::string& host) {
  std::vector<std::string> lines;
  for (std::size_t local = 0; local < assignment.ranks.size(); ++local) {
    const Cpus& cpus = assignment.places[local];
    const std::string bound = cpus.size() == 1 ? "bound to CPU " : "bound to CPUs ";
    lines.push_back("rank " + std::to_string(assignment.ranks[local]) + " on " + host + ": " +
                    (cpus.empty() ? "not bound" : bound + to_text(cpus)));
  }
  return lines;
}

}  // namespace rota::launcher

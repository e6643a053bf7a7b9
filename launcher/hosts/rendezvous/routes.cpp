// Knows the ranks of this host and of each host below it, so that a message for a rank reaches the
// host of that rank.
#include "launcher/hosts/rendezvous/routes.h"

#include "launcher/hosts/rendezvous/host_tree.h"

namespace rota::launcher {
namespace {

std::size_t count_of(const std::map<std::size_t, std::size_t>& counts, std::size_t host) {
  const auto found = counts.find(host);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

Routes::Routes(const HostPlan& host_plan, std::size_t own_host)
    : host_plan_(host_plan), own_host_(own_host) {}

std::map<std::size_t, std::vector<HostText>> Routes::assign(
    const std::vector<HostText>& assignments) {
  std::map<std::size_t, std::vector<HostText>> by_child;
  host_of_rank_.clear();
  rank_counts_.clear();
  evaluator_counts_.clear();
  for (const HostText& entry : assignments) {
    const auto assignment = decode_assignment(entry.text);
    if (!assignment || !is_part_of(entry.host, own_host_)) continue;
    world_ = assignment->world;
    world_size_ = assignment->world_size;
    rank_counts_[entry.host] = assignment->ranks.size();
    evaluator_counts_[entry.host] = assignment->evaluators.size();
    for (const std::size_t rank : assignment->ranks) host_of_rank_[rank] = entry.host;
    if (entry.host == own_host_) continue;
    by_child[child_toward(host_plan_, own_host_, entry.host)].push_back(entry);
  }
  return by_child;
}

std::size_t Routes::rank_count(std::size_t host) const { return count_of(rank_counts_, host); }

std::size_t Routes::evaluator_count(std::size_t host) const {
  return count_of(evaluator_counts_, host);
}

bool Routes::is_part_of(std::size_t host, std::size_t child) const {
  return host < member_count(host_plan_) && (host == child || is_below(host_plan_, host, child));
}

bool Routes::has_rank(std::size_t child, std::size_t rank) const {
  const auto found = host_of_rank_.find(rank);
  return found != host_of_rank_.end() && is_part_of(found->second, child);
}

std::optional<std::size_t> Routes::child_toward_rank(std::size_t rank) const {
  const auto found = host_of_rank_.find(rank);
  if (found == host_of_rank_.end() || found->second == own_host_) return std::nullopt;
  return child_toward(host_plan_, own_host_, found->second);
}

std::vector<std::size_t> Routes::ranks_of(std::size_t host) const {
  std::vector<std::size_t> ranks;
  for (const auto& [rank, its_host] : host_of_rank_) {
    if (is_part_of(its_host, host)) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace rota::launcher

// Computes which host connects to which: without the host tree, the leader of a large job would
// have to accept every host.
#include "launcher/hosts/rendezvous/host_tree.h"

#include <algorithm>

namespace rota::launcher {

std::size_t parent_of(const HostPlan& host_plan, std::size_t host) {
  const bool is_in_tree = host_plan.is_tree && host > 0 && host < host_plan.host_count;
  return is_in_tree ? (host - 1) / kMostChildren : host_plan.leader_host;
}

std::vector<std::size_t> children_of(const HostPlan& host_plan, std::size_t host) {
  std::vector<std::size_t> children;
  if (host_plan.is_tree && host < host_plan.host_count) {
    const std::size_t first = host * kMostChildren + 1;
    const std::size_t end = std::min(first + kMostChildren, host_plan.host_count);
    for (std::size_t child = first; child < end; ++child) children.push_back(child);
  }
  if (host != host_plan.leader_host) return children;
  for (std::size_t other = host_plan.is_tree ? host_plan.host_count : 0;
       other < member_count(host_plan); ++other) {
    if (other != host) children.push_back(other);
  }
  return children;
}

std::vector<std::size_t> subtree_of(const HostPlan& host_plan, std::size_t host) {
  std::vector<std::size_t> subtree{host};
  for (std::size_t i = 0; i < subtree.size(); ++i) {
    for (const std::size_t child : children_of(host_plan, subtree[i])) {
      if (child < host_plan.host_count) subtree.push_back(child);
    }
  }
  return subtree;
}

bool is_below(const HostPlan& host_plan, std::size_t host, std::size_t other) {
  while (host != host_plan.leader_host) {
    host = parent_of(host_plan, host);
    if (host == other) return true;
  }
  return false;
}

std::size_t child_toward(const HostPlan& host_plan, std::size_t host, std::size_t destination) {
  while (parent_of(host_plan, destination) != host) destination = parent_of(host_plan, destination);
  return destination;
}

}  // namespace rota::launcher

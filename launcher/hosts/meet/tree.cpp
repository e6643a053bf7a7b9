// Who calls whom.
#include "launcher/hosts/meet/tree.h"

#include <algorithm>

namespace rota::launcher {

std::size_t parent_of(const Meeting& meeting, std::size_t host) {
  const bool is_in_tree = meeting.is_tree && host > 0 && host < meeting.host_count;
  return is_in_tree ? (host - 1) / kMostChildren : meeting.leader_host;
}

std::vector<std::size_t> children_of(const Meeting& meeting, std::size_t host) {
  std::vector<std::size_t> children;
  if (meeting.is_tree && host < meeting.host_count) {
    const std::size_t first = host * kMostChildren + 1;
    const std::size_t end = std::min(first + kMostChildren, meeting.host_count);
    for (std::size_t child = first; child < end; ++child) children.push_back(child);
  }
  if (host != meeting.leader_host) return children;
  for (std::size_t other = meeting.is_tree ? meeting.host_count : 0; other < member_count(meeting);
       ++other) {
    if (other != host) children.push_back(other);
  }
  return children;
}

std::vector<std::size_t> branch_of(const Meeting& meeting, std::size_t host) {
  std::vector<std::size_t> branch{host};
  for (std::size_t i = 0; i < branch.size(); ++i) {
    for (const std::size_t child : children_of(meeting, branch[i])) {
      if (child < meeting.host_count) branch.push_back(child);
    }
  }
  return branch;
}

bool is_below(const Meeting& meeting, std::size_t host, std::size_t other) {
  while (host != meeting.leader_host) {
    host = parent_of(meeting, host);
    if (host == other) return true;
  }
  return false;
}

std::size_t child_toward(const Meeting& meeting, std::size_t host, std::size_t destination) {
  while (parent_of(meeting, destination) != host) destination = parent_of(meeting, destination);
  return destination;
}

}  // namespace rota::launcher

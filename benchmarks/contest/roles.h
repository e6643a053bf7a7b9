// Who is who in a contest: ours, peers, and the limit.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "contest/rounds.h"

namespace rota::bench {

struct Roles {
  std::string ours;        // This one is divided by the best peer,
  std::string limit;       // which this one is not, but what the machine can do.
  std::string baseline{};  // Instead of all this: by this one, each of the others is divided.
};

// Whether `name` starts with the first word of ours: "rota shm+tcp two-level" is rota's own too.
bool is_own(const Roles& roles, std::string_view name);

inline bool is_peer(const Roles& roles, std::string_view name) {
  return name != roles.limit && !is_own(roles, name);
}

struct BestPeer {
  std::string name;
  std::vector<double> seconds;  // Round by round; empty where there is no peer.
};

// The peer with the least median.
BestPeer best_peer(const Contestants& contestants, const Roles& roles);

}  // namespace rota::bench

// The roles in a contest: rota (`ours`), the peers, and the limit.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "contest/rounds.h"

namespace rota::bench {

struct Roles {
  std::string ours;        // Its time is divided by the best peer's time.
  std::string limit;       // The best that the machine can do; not a peer.
  std::string baseline{};  // If set, all other times are divided by its time instead.
};

// Returns whether `name` begins with the first word of `ours`: "rota shm+tcp two-level" is rota's
// too.
bool is_own(const Roles& roles, std::string_view name);

inline bool is_peer(const Roles& roles, std::string_view name) {
  return name != roles.limit && !is_own(roles, name);
}

struct BestPeer {
  std::string name;
  std::vector<double> seconds;  // One value per round; empty if there is no peer.
};

// Returns the peer with the smallest median.
BestPeer best_peer(const Contestants& contestants, const Roles& roles);

}  // namespace rota::bench

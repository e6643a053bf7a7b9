// Finds the role of a contestant from its name.
#include "contest/roles.h"

#include "statistics.h"

namespace rota::bench {

bool is_own(const Roles& roles, std::string_view name) {
  const auto first_word = [](std::string_view text) { return text.substr(0, text.find(' ')); };
  return first_word(name) == first_word(roles.ours);
}

BestPeer best_peer(const Contestants& contestants, const Roles& roles) {
  BestPeer best;
  for (const auto& [name, seconds] : contestants) {
    if (!is_peer(roles, name)) continue;
    if (best.seconds.empty() || median(seconds) < median(best.seconds)) best = {name, seconds};
  }
  return best;
}

}  // namespace rota::bench

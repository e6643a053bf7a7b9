// Where ours wins and where it loses, in a sentence.
#pragma once
#include <string>

#include "contest/roles.h"
#include "contest/rounds.h"

namespace rota::bench {

// For each of ours: at which sizes it takes less time than the best peer, as much and more, with
// the ratios of the table. Empty where there is no peer.
std::string verdict_of(const Contest& contest, const Roles& roles);

}  // namespace rota::bench

// Writes a sentence that says at which sizes rota is faster, and at which sizes it is slower.
#pragma once
#include <string>

#include "contest/roles.h"
#include "contest/rounds.h"

namespace rota::bench {

// Returns a sentence for each of rota's contestants. It says at which sizes the contestant takes
// less time than the best peer, about the same time, and more time, with the ratios of the table.
// Returns an empty string if there is no peer.
std::string verdict_of(const Contest& contest, const Roles& roles);

}  // namespace rota::bench

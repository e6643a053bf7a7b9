// Chooses the best way to make a call.
#pragma once
#include <cstddef>
#include <vector>

#include "collectives/group.h"

namespace rota::bench {

// Collective. Tries all ways, since the best one depends on `bytes`, and returns the way whose
// slowest rank is the fastest. `ways` must not be empty.
PreparedCall best_call(Group& group, const std::vector<PreparedCall>& ways, std::size_t bytes);

}  // namespace rota::bench

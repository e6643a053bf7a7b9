// One call that can be made in several ways.
#pragma once
#include <cstddef>
#include <vector>

#include "collectives/group.h"

namespace rota::bench {

// That way whose slowest rank is the fastest: which one it is depends on the bytes, and so all are
// tried. Collective. Requires that there is one.
PreparedCall best_call(Group& group, const std::vector<PreparedCall>& ways, std::size_t bytes);

}  // namespace rota::bench

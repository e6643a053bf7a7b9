// What becomes of measured contests before a page shows them, so that each table is fair.
#pragma once
#include <vector>

#include "contest/roles.h"
#include "contest/rounds.h"

namespace rota::bench {

// Where ours works in place, and a peer only out of place, that is what ours is measured beside: a
// peer's times move into the table of calls in place, by the name "PEER (out of place)".
void borrow_out_of_place(std::vector<Contest>& contests, const Roles& roles);

// Takes out isolated calls of a size at which somebody takes less than a microsecond: a barrier
// does not start ranks more exactly than that. Their sizes go into Contest::left_out.
void leave_out_short_calls(std::vector<Contest>& contests, const Roles& roles);

// Throws std::runtime_error where ours takes clearly less time than the limit, which is none then.
void check_limit(const std::vector<Contest>& contests, const Roles& roles);

}  // namespace rota::bench

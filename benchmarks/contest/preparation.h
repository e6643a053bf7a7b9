// Prepares measured contests for a page, so that each table compares equal calls.
#pragma once
#include <vector>

#include "contest/roles.h"
#include "contest/rounds.h"

namespace rota::bench {

// If rota works in place and a peer works only out of place, compares rota with the peer's call out
// of place. The peer's times go into the table of calls in place, under the name "PEER (out of
// place)".
void borrow_out_of_place(std::vector<Contest>& contests, const Roles& roles);

// Removes the isolated calls of a size at which any contestant takes less than a microsecond: a
// barrier cannot start the ranks closer together than that. Adds the sizes to Contest::left_out.
void leave_out_short_calls(std::vector<Contest>& contests, const Roles& roles);

// Throws std::runtime_error if rota takes clearly less time than the limit: then the measured limit
// is wrong.
void check_limit(const std::vector<Contest>& contests, const Roles& roles);

}  // namespace rota::bench

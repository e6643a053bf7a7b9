// Says whether the efficiency on eight hosts meets its bounds.
#pragma once
#include <string>
#include <vector>

#include "scale/page.h"

namespace rota::bench {

// Returns the items of a list in Markdown, for each table of paced weak scaling at 1 Gbit/s that
// has a job of eight hosts with one rank each. The efficiency of `ours` must be at least 95 %, or
// all that bytes allow. It must also be at least that of the best other library. Returns nothing if
// there is no such job of `ours`.
std::string verdicts_of(const std::vector<ScaleTable>& tables, const std::string& ours);

}  // namespace rota::bench

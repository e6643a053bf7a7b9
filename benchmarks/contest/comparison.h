// `rota-bench compare`: two programs' rows, side by side.
#pragma once
#include <string>
#include <vector>

#include "collectives/row.h"

namespace rota::bench {

// For each way in which both were measured, a table with a line a size: the median times of both,
// and how many times as fast `ours` is as `theirs`, as the median, smallest and largest of the
// ratios taken round by round. Throws std::runtime_error where the two did not run the same rounds,
// or have nothing in common.
std::string compare(const std::vector<Row>& rows, const std::string& ours,
                    const std::string& theirs);

}  // namespace rota::bench

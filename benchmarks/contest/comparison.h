// `rota-bench compare` shows the rows of two programs side by side.
#pragma once
#include <string>
#include <vector>

#include "collectives/row.h"

namespace rota::bench {

// Returns a table for each way of calling that both programs measured, with a line for each
// size. A line has the median times of both, and how many times as fast `ours` is as `theirs`: the
// median, smallest and largest of the ratios taken round by round. Throws std::runtime_error if the
// two programs ran different numbers of rounds, or if no call was measured of both.
std::string compare(const std::vector<Row>& rows, const std::string& ours,
                    const std::string& theirs);

}  // namespace rota::bench

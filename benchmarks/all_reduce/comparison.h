// `rota-bench compare`: two programs' rows of the same sizes, side by side.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "all_reduce/row.h"

namespace rota::bench {

// The rows that programs printed with --json. Throws std::runtime_error, naming the line, where one
// is no row.
std::vector<Row> read_rows(std::istream& lines);

// A table with a line a size: the median times of both, and how many times as fast `ours` is as
// `theirs`, as the median, smallest and largest of the ratios taken round by round, so that a
// machine that is slow for a while is slow for both. Round k is the k-th row of a name and size.
// Throws std::runtime_error where the two did not run the same rounds.
std::string compare(const std::vector<Row>& rows, const std::string& ours,
                    const std::string& theirs);

}  // namespace rota::bench

// Shares work on a large checkpoint among the CPUs of this host. With one CPU, checking and copying
// would take longer than reading the files.
#pragma once
#include <cstddef>
#include <functional>

namespace rota::checkpoint {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // Of each piece that callers make.

// Calls `work` once for each number below `count`, in ascending order, on this thread and on
// further threads, which end before the call returns. A short list gets no further thread. If some
// calls throw, rethrows what the call with the smallest number threw; calls with larger numbers may
// then be left out.
void for_each_piece(std::size_t count, const std::function<void(std::size_t piece)>& work);

}  // namespace rota::checkpoint

// Deals out the largest tensors first, each to the rank that has the fewest bytes so far. The ranks
// then differ by little more than the size of a small tensor.
#include "checkpoint/deal.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"

namespace rota::checkpoint {
namespace {

struct Piece {
  DealtRows dealt;
  std::size_t bytes = 0;
};

std::size_t divided_up(std::size_t number, std::size_t by) {
  return number / by + (number % by == 0 ? 0 : 1);
}

// Cuts a tensor into runs of rows. The lengths of the runs differ by at most one row.
void append_pieces(std::size_t index, const TensorInfo& tensor, std::size_t ranks,
                   std::vector<Piece>& pieces) {
  const std::size_t rows = all_rows_of(tensor).count;
  const std::size_t wanted = divided_up(bytes_of(tensor), kMostUncutBytes);
  const std::size_t writers = std::max<std::size_t>(std::min({wanted, ranks, rows}), 1);
  for (std::size_t i = 0; i < writers; ++i) {
    const Slice slice = slice_of(rows, i, writers);
    const Rows run{.first = slice.offset, .count = slice.count};
    pieces.push_back({.dealt = {.tensor = index, .rows = run}, .bytes = bytes_of(tensor, run)});
  }
}

// Among the ranks without rows of this tensor, returns the one with the fewest bytes.
std::size_t next_rank(const std::vector<std::vector<DealtRows>>& dealt,
                      std::span<const std::size_t> loads, std::size_t tensor) {
  std::size_t best = loads.size();
  for (std::size_t rank = 0; rank < loads.size(); ++rank) {
    if (best < loads.size() && loads[rank] >= loads[best]) continue;
    if (std::ranges::find(dealt[rank], tensor, &DealtRows::tensor) == dealt[rank].end()) {
      best = rank;
    }
  }
  ROTA_ASSERT(best < loads.size());
  return best;
}

}  // namespace

std::vector<std::vector<DealtRows>> deal(std::span<const TensorInfo> tensors, std::size_t ranks) {
  ROTA_ASSERT(ranks > 0);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tensors.size(); ++i) append_pieces(i, tensors[i], ranks, pieces);
  std::ranges::stable_sort(pieces, std::greater(), &Piece::bytes);
  std::vector<std::vector<DealtRows>> dealt(ranks);
  std::vector<std::size_t> loads(ranks, 0);
  for (const Piece& piece : pieces) {
    const std::size_t rank = next_rank(dealt, loads, piece.dealt.tensor);
    dealt[rank].push_back(piece.dealt);
    loads[rank] += piece.bytes;
  }
  for (auto& share : dealt) std::ranges::sort(share, {}, &DealtRows::tensor);
  return dealt;
}

}  // namespace rota::checkpoint

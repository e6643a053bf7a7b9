// Reduces one rank's slice for all ranks: reads and writes all ranks' values in place. If only one
// rank gives values, they are copied.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/reducer.h"
#include "collectives/shared/scatter_list.h"

namespace rota::collectives {

class SliceReducer {
 public:
  // What one rank does in the slice: `gives` means that it contributes values, `takes` that it gets
  // the result. `factor` multiplies its values first, and `cursor` says where its values are.
  struct Ends {
    bool gives = true;
    bool takes = true;
    double factor = 1;
    ScatterCursor cursor;  // Unused if the rank neither gives nor takes.
  };

  explicit SliceReducer(std::size_t world_size) : ends_(world_size) {}

  // Begins slice `slice` of `count` values. Afterwards the caller sets each rank's Ends, whose
  // cursor begins where the slice begins. Either all ranks give values, or one rank does. Terms are
  // added in the order of the ring or, if there is a `root`, of a chain that ends at the root.
  void begin(const Reducer& reducer, std::size_t count, Slice slice,
             std::optional<std::size_t> root) noexcept;
  Ends& of(std::size_t rank) noexcept { return ends_[rank]; }

  const Slice& rest() const noexcept { return rest_; }

  // Reduces one piece. A piece is large enough that a check for an abort after each piece costs
  // little. If the values of a rank end before the end of the slice, returns this rank. The values
  // before that point have been reduced.
  std::optional<std::size_t> reduce_piece() noexcept;

 private:
  std::size_t run_count(std::size_t most) const noexcept;
  void copy(Slice run) const noexcept;
  void reduce_run(Slice run) const noexcept;
  void reduce_between_two(Slice run) const noexcept;
  void reduce_among_many(Slice run) const noexcept;
  void reduce_blocks(std::size_t chunk, Slice run, Slice slice) const noexcept;
  void reduce_block(std::size_t chunk, Slice run, Slice block) const noexcept;

  const Reducer* reducer_ = nullptr;
  std::size_t count_ = 0;
  std::optional<std::size_t> root_;
  Slice rest_;
  std::vector<Ends> ends_;  // Index = rank.
};

}  // namespace rota::collectives

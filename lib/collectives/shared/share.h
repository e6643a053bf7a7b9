// What one rank reduces for all ranks in an exchange: a run of everybody's values, which it reads
// and writes where they lie. Where one rank alone gives values, they are copied.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/reducer.h"
#include "collectives/shared/reach.h"

namespace rota::collectives {

class Share {
 public:
  // Where a rank's values of the share lie, whether they count, whether they become the result,
  // and what they are multiplied by first.
  struct Ends {
    bool gives = true;
    bool takes = true;
    double factor = 1;
    Reach reach;  // Unused where the rank does neither.
  };

  explicit Share(std::size_t world_size) : ends_(world_size) {}

  // Of `count` values in all. Each rank's ends, which begin where the share does, follow. All of
  // them give, or one does. Terms are added in the order of the ring or, where there is a `root`,
  // of a chain that ends there.
  void begin(const Reducer& reducer, std::size_t count, Slice slice,
             std::optional<std::size_t> root) noexcept;
  Ends& of(std::size_t rank) noexcept { return ends_[rank]; }

  const Slice& rest() const noexcept { return rest_; }

  // Reduces so much that it is worth a look whether one may go on. Returns the rank whose values
  // end before the share does, where there is one; what is before that has been reduced.
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
  std::vector<Ends> ends_;  // By rank.
};

}  // namespace rota::collectives

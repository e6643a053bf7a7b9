// What one rank reduces for all ranks in an exchange: a run of everybody's values, which it reads
// and writes where they lie.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/reach.h"
#include "collectives/reducer.h"

namespace rota::collectives {

class Share {
 public:
  // Where a rank's values of the share lie, and what they are multiplied by first.
  struct Ends {
    Reach reach;
    double factor = 1;
  };

  explicit Share(std::size_t world_size) : ends_(world_size) {}

  // Of `count` values in all. Each rank's ends, which begin where the share does, follow.
  void begin(const Reducer& reducer, std::size_t count, Slice slice) noexcept;
  Ends& of(std::size_t rank) noexcept { return ends_[rank]; }

  const Slice& rest() const noexcept { return rest_; }

  // Reduces so much that it is worth a look whether one may go on. Returns the rank whose values
  // end before the share does, where there is one; what is before that has been reduced.
  std::optional<std::size_t> reduce_piece() noexcept;

 private:
  std::size_t run_count(std::size_t most) const noexcept;
  void reduce_between_two(Slice run) const noexcept;
  void reduce_among_many(Slice run) const noexcept;
  void reduce_block(std::size_t chunk, Slice run, Slice block) const noexcept;

  const Reducer* reducer_ = nullptr;
  std::size_t count_ = 0;
  Slice rest_;
  std::vector<Ends> ends_;  // By rank.
};

}  // namespace rota::collectives

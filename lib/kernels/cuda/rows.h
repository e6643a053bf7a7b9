// Adds up the rows of a matrix on a GPU, in one order for each number of rows. Each group of rows
// gives sums. A second kernel adds the sums of the groups.
#pragma once
#include <rota/cuda_model_calls.h>

#include "kernels/cuda/each.h"

namespace rota::kernels::cuda {

using rota::cuda::kRowGroups;

// Rows are dealt out to groups of equal size. Only the last group may be smaller.
inline constexpr std::size_t kFewestRows = 128;
constexpr std::size_t rows_of_group(std::size_t rows) noexcept {
  const std::size_t share = (rows + kRowGroups - 1) / kRowGroups;
  return share < kFewestRows ? kFewestRows : share;
}
constexpr std::size_t row_groups(std::size_t rows) noexcept {
  return (rows + rows_of_group(rows) - 1) / rows_of_group(rows);
}

// A block adds up 32 columns of a group. Each of its threads adds every eighth row of a column.
struct GroupSums {
  static constexpr unsigned kColumns = 32;
  static constexpr unsigned kLanes = 8;
  static constexpr unsigned kThreads = kColumns * kLanes;
  static constexpr unsigned kHalvings = 3;
  static_assert(1U << kHalvings == kLanes);
  static constexpr unsigned kPhases = 1 + kHalvings;
  struct Shared {
    float sums[kThreads];
  };
  using Local = Nothing;

  float* sums;  // Groups × columns; or `to`, if there is one group.
  const float* matrix;
  std::size_t rows;
  std::size_t columns;
  bool adds;  // To what is in `sums`.

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared& shared, Local&) const noexcept {
    const unsigned lane = place.thread / kColumns;
    if constexpr (kPhase == 0) {
      shared.sums[place.thread] = own_sum(place, lane);
    } else {
      constexpr unsigned kLeft = kLanes >> kPhase;
      if (lane < kLeft) {
        shared.sums[place.thread] += shared.sums[place.thread + kLeft * kColumns];
      }
      if (kPhase == kHalvings && lane == 0) store(place, shared.sums[place.thread]);
    }
  }

 private:
  ROTA_TARGET std::size_t tiles() const noexcept { return (columns + kColumns - 1) / kColumns; }
  ROTA_TARGET std::size_t column_of(const Place& place) const noexcept {
    return place.block % tiles() * kColumns + place.thread % kColumns;
  }
  ROTA_TARGET float own_sum(const Place& place, unsigned lane) const noexcept {
    const std::size_t column = column_of(place);
    if (column >= columns) return 0;
    const std::size_t group = rows_of_group(rows);
    const std::size_t first = place.block / tiles() * group;
    const std::size_t end = first + group < rows ? first + group : rows;
    float sum = 0;
    for (std::size_t row = first + lane; row < end; row += kLanes) {
      sum += matrix[row * columns + column];
    }
    return sum;
  }
  ROTA_TARGET void store(const Place& place, float sum) const noexcept {
    const std::size_t column = column_of(place);
    if (column >= columns) return;
    float* to = sums + place.block / tiles() * columns + column;
    *to = adds ? *to + sum : sum;
  }
};

struct SumOfGroups {
  float* sums;
  const float* of_groups;
  std::size_t groups;
  std::size_t columns;
  bool adds;

  template <class Index>
  ROTA_TARGET void one(Index column) const noexcept {
    float sum = 0;
    for (std::size_t group = 0; group < groups; ++group) sum += of_groups[group * columns + column];
    sums[column] = adds ? sums[column] + sum : sum;
  }
};

inline Status add_rows(const Queue& queue, float* sums, float* work, const float* matrix,
                       std::size_t rows, std::size_t columns, bool adds) noexcept {
  const std::size_t groups = row_groups(rows);
  const std::size_t tiles = (columns + GroupSums::kColumns - 1) / GroupSums::kColumns;
  if (groups <= 1) {
    return launch(queue, tiles, GroupSums{sums, matrix, rows, columns, adds});
  }
  const Status status =
      launch(queue, tiles * groups, GroupSums{work, matrix, rows, columns, false});
  if (status != 0) return status;
  return each(queue, SumOfGroups{sums, work, groups, columns, adds}, columns);
}

}  // namespace rota::kernels::cuda

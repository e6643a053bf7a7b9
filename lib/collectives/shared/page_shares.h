// The slice of the values that each rank reduces for all ranks. Slices are cut at page boundaries,
// because a processor's prefetch ends there. Across any other cut, the prefetch would take cache
// lines away from the rank that writes them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <rota/values.h>

namespace rota::collectives {

class PageShares {
 public:
  static constexpr std::size_t kPageShift = 12;
  static constexpr std::size_t kPageBytes = std::size_t{1} << kPageShift;

  explicit PageShares(std::size_t world_size) noexcept : world_size_(world_size) {}

  // `segment`: the elements to cut. An element has 2^element_shift bytes. `offset`: the offset of
  // rank 0's values in the memory of rank 0. All ranks know this offset. It also selects the rank
  // of the first page: the same values get the same rank each time, and the first pages of
  // different values are spread over the ranks.
  void cut(Slice segment, std::size_t element_shift, std::uint64_t offset) noexcept {
    segment_ = segment;
    page_shift_ = kPageShift - element_shift;
    lead_ = static_cast<std::size_t>(offset % kPageBytes) >> element_shift;
    first_rank_ = static_cast<std::size_t>(offset / kPageBytes % world_size_);
    pages_ = (lead_ + segment.count + (std::size_t{1} << page_shift_) - 1) >> page_shift_;
  }

  Slice segment() const noexcept { return segment_; }

  Slice of(std::size_t rank) const noexcept {
    const std::size_t end = lead_ + segment_.count;
    const Slice pages = slice_of(pages_, place_of(rank), world_size_);
    const std::size_t from = std::clamp(pages.offset << page_shift_, lead_, end);
    const std::size_t to = std::clamp((pages.offset + pages.count) << page_shift_, lead_, end);
    return {segment_.offset + from - lead_, to - from};
  }

  bool is_empty(std::size_t rank) const noexcept { return place_of(rank) >= pages_; }

 private:
  // Returns the index of a rank in the order in which ranks reduce pages.
  std::size_t place_of(std::size_t rank) const noexcept {
    return rank >= first_rank_ ? rank - first_rank_ : rank + world_size_ - first_rank_;
  }

  std::size_t world_size_;
  Slice segment_;
  std::size_t page_shift_ = kPageShift;
  std::size_t lead_ = 0;        // Elements between the start of the first page and the segment.
  std::size_t first_rank_ = 0;  // The rank with the first page.
  std::size_t pages_ = 0;
};

}  // namespace rota::collectives

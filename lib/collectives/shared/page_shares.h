// Which values each rank reduces for all. Shares are cut at pages: what a processor fetches ahead
// ends there, and would take lines away from whoever writes them.
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

  // `segment`: the elements to cut, each of 2 to the power of `element_shift` bytes. `offset`:
  // where rank 0's values begin in its memory. All ranks know it. So is who begins with the first
  // page, so that it is the same rank each time, and of other values another one.
  void cut(Slice segment, std::size_t element_shift, std::uint64_t offset) noexcept {
    segment_ = segment;
    page_shift_ = kPageShift - element_shift;
    lead_ = offset % kPageBytes >> element_shift;
    first_rank_ = offset / kPageBytes % world_size_;
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
  // Of the ranks in the order in which they reduce pages.
  std::size_t place_of(std::size_t rank) const noexcept {
    return rank >= first_rank_ ? rank - first_rank_ : rank + world_size_ - first_rank_;
  }

  std::size_t world_size_;
  Slice segment_;
  std::size_t page_shift_ = kPageShift;
  std::size_t lead_ = 0;        // Elements of a page before the segment begins in it.
  std::size_t first_rank_ = 0;  // Reduces the first page.
  std::size_t pages_ = 0;
};

}  // namespace rota::collectives

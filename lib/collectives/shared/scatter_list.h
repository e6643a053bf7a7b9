// Walks over one rank's values in a collective over shared memory. Every rank that reads or writes
// these values does this. The values are one contiguous run, or the parts of a grouped call, one
// after another.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/sizes.h"

namespace rota::collectives {

// The places of a grouped call's parts. All parts are in the arena of the rank that makes the call.
// This rank writes the list into the same arena.
struct ScatterList {
  struct Part {
    std::uint64_t offset;
    std::uint64_t bytes;  // Whole elements; never 0.
  };
  static constexpr std::size_t kMost = 255;  // With `count`, the list fits one page.

  std::uint64_t count;
  std::array<Part, kMost> parts;
};
static_assert(sizeof(ScatterList) <= 4096);

class ScatterCursor {
 public:
  ScatterCursor() = default;
  // `to`: where the results go; it may equal `from`.
  ScatterCursor(const std::byte* from, std::byte* to, std::size_t bytes) noexcept
      : from_(from), to_(to), bytes_(bytes) {}
  // `memory`: the memory that the list's offsets refer to. `element_bytes`: a power of two.
  ScatterCursor(std::span<std::byte> memory, const ScatterList& list,
                std::size_t element_bytes) noexcept
      : memory_(memory),
        list_(&list),
        left_(base::at_most(ScatterList::kMost, list.count)),
        element_bytes_(element_bytes) {}

  // The next three functions describe the run that begins at the current position. With a list, the
  // run is empty before the first skip().
  const std::byte* from() const noexcept { return from_; }
  std::byte* to() const noexcept { return to_; }
  std::size_t bytes() const noexcept { return bytes_; }

  // Moves on by `bytes`. `more`: further bytes follow, so the cursor stops at a run that is not
  // empty. Returns false if there are not enough bytes. A peer writes the list, and the list
  // decides where other ranks write. So each part is checked: it must be inside the peer's memory.
  [[nodiscard]] bool skip(std::size_t bytes, bool more = true) noexcept {
    while (bytes > bytes_ || (more && bytes == bytes_)) {
      bytes -= bytes_;
      if (!next()) return false;
    }
    from_ += bytes;
    to_ += bytes;
    bytes_ -= bytes;
    return true;
  }

 private:
  bool next() noexcept {
    if (left_ == 0) return false;
    const ScatterList::Part part = list_->parts[next_];  // One read: the peer may change the list.
    ++next_;
    --left_;
    if (part.offset > memory_.size() || part.bytes > memory_.size() - part.offset) return false;
    if (part.bytes == 0 || (part.bytes & (element_bytes_ - 1)) != 0) return false;
    from_ = to_ = memory_.data() + part.offset;
    bytes_ = static_cast<std::size_t>(part.bytes);  // At most memory_.size().
    return true;
  }

  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  std::size_t bytes_ = 0;
  std::span<std::byte> memory_;
  const ScatterList* list_ = nullptr;
  std::size_t next_ = 0;
  std::size_t left_ = 0;  // Parts not yet used.
  std::size_t element_bytes_ = 1;
};

}  // namespace rota::collectives

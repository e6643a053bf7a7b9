// One rank's values in an exchange, as the ranks that work on them reach them: in one run, or in
// the parts of a group, one after the other.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rota::collectives {

// Where the parts of a group lie in the arena of its rank, which writes it there.
struct PartList {
  struct Part {
    std::uint64_t offset;
    std::uint64_t bytes;  // Whole elements, and not 0.
  };
  static constexpr std::size_t kMost = 255;  // With their count they are a page.

  std::uint64_t count;
  std::array<Part, kMost> parts;
};
static_assert(sizeof(PartList) <= 4096);

class Reach {
 public:
  Reach() = default;
  // `to`: where the results belong; it may be `from`.
  Reach(const std::byte* from, std::byte* to, std::size_t bytes) noexcept
      : from_(from), to_(to), bytes_(bytes) {}
  // `memory`: that the list's offsets are in. `element_bytes`: a power of two.
  Reach(std::span<std::byte> memory, const PartList& list, std::size_t element_bytes) noexcept
      : memory_(memory),
        list_(&list),
        left_(std::min<std::size_t>(list.count, PartList::kMost)),
        element_bytes_(element_bytes) {}

  // The run that begins where one has come to. Empty before the first skip().
  const std::byte* from() const noexcept { return from_; }
  std::byte* to() const noexcept { return to_; }
  std::size_t bytes() const noexcept { return bytes_; }

  // Goes on by so many bytes, to a run that is not empty where `more` come. False where there are
  // none: a peer's words, which decide where others write, are held against its memory.
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
    const PartList::Part part = list_->parts[next_];  // Once: it is the peer's to change.
    ++next_;
    --left_;
    if (part.offset > memory_.size() || part.bytes > memory_.size() - part.offset) return false;
    if (part.bytes == 0 || (part.bytes & (element_bytes_ - 1)) != 0) return false;
    from_ = to_ = memory_.data() + part.offset;
    bytes_ = part.bytes;
    return true;
  }

  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  std::size_t bytes_ = 0;
  std::span<std::byte> memory_;
  const PartList* list_ = nullptr;
  std::size_t next_ = 0;
  std::size_t left_ = 0;  // Parts of the list.
  std::size_t element_bytes_ = 1;
};

}  // namespace rota::collectives

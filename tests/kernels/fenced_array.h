// Memory for arrays that lie at the edge of what a program may access. A kernel that touches a byte
// outside of such an array ends the test.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "os/host.h"

namespace rota::kernels::testing {

// Has whole pages, between two pages that cannot be accessed.
class FencedArray {
 public:
  explicit FencedArray(std::size_t most_bytes)
      : page_(os::page_bytes()), bytes_((most_bytes + page_ - 1) / page_ * page_) {
    void* room = ::mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(room, MAP_FAILED);
    room_ = static_cast<std::byte*>(room);
    EXPECT_EQ(::mprotect(room_ + page_, bytes_, PROT_READ | PROT_WRITE), 0);
  }
  FencedArray(const FencedArray&) = delete;
  FencedArray& operator=(const FencedArray&) = delete;
  ~FencedArray() { ::munmap(room_, bytes_ + 2 * page_); }

  // Return room for an array at the end of the pages, or at their beginning.
  std::byte* at_end(std::size_t bytes) const { return room_ + page_ + bytes_ - bytes; }
  std::byte* at_beginning() const { return room_ + page_; }

  // Copies an array to one of the two places, and returns the place.
  std::byte* put(std::span<const std::byte> array, bool is_at_end) const {
    std::byte* to = is_at_end ? at_end(array.size()) : at_beginning();
    if (!array.empty()) std::memcpy(to, array.data(), array.size());
    return to;
  }

 private:
  std::size_t page_;
  std::size_t bytes_;
  std::byte* room_ = nullptr;
};

}  // namespace rota::kernels::testing

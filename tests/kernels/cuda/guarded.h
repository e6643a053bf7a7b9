// Has arrays at addresses of any alignment, between bytes that no kernel may write, and the ways in
// which the tests launch kernels. AddressSanitizer also reports a kernel that reads such bytes.
#pragma once
#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/host_run.h"
#include "kernels/cuda/launches.h"
#include "kernels/cuda/where.h"
#include "kernels/reference.h"

namespace rota::kernels::cuda::testing {

using kernels::testing::any_values;
using kernels::testing::same;

// The first element lies `shift` bytes behind an address that is a multiple of 64.
template <class T>
class Guarded {
 public:
  Guarded(const std::vector<T>& values, std::size_t shift)
      : count_(values.size()), all_(count_ * sizeof(T) + shift + 3 * kGuard, kMark) {
    auto address = reinterpret_cast<std::uintptr_t>(all_.data());
    begin_ = (address + 2 * kGuard - 1) / kGuard * kGuard - address + shift;
    if (count_ != 0) std::memcpy(data(), values.data(), count_ * sizeof(T));
    forbid();
  }
  Guarded(Guarded&&) noexcept = default;
  Guarded& operator=(Guarded&&) = delete;
  ~Guarded() { allow(); }

  std::byte* data() noexcept { return all_.data() + begin_; }
  // The elements as they would be at an aligned address.
  std::vector<T> values() const {
    finish();
    std::vector<T> copy(count_);
    if (count_ != 0) std::memcpy(copy.data(), all_.data() + begin_, count_ * sizeof(T));
    return copy;
  }
  bool is_intact_around() const {
    const auto is_mark = [](std::byte each) { return each == kMark; };
    const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(begin_);
    const auto end = begin + static_cast<std::ptrdiff_t>(count_ * sizeof(T));
    finish();
    allow();
    const bool is_intact =
        std::all_of(all_.begin(), begin, is_mark) && std::all_of(end, all_.end(), is_mark);
    forbid();
    return is_intact;
  }

 private:
  // The sanitizer knows no other beginnings than multiples of 8.
  void forbid() const noexcept {
    const std::size_t end = begin_ + count_ * sizeof(T);
    ASAN_POISON_MEMORY_REGION(all_.data(), begin_);
    ASAN_POISON_MEMORY_REGION(all_.data() + end, all_.size() - end);
  }
  void allow() const noexcept { ASAN_UNPOISON_MEMORY_REGION(all_.data(), all_.size()); }

  static constexpr std::size_t kGuard = 64;
  static constexpr std::byte kMark{0xa5};
  std::size_t count_;
  Memory all_;
  std::size_t begin_ = 0;
};

template <class T>
void expect_same(const std::vector<T>& values, const std::vector<T>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(same(values[i], expected[i])) << "at " << i << " of " << values.size();
  }
}

// Kernels run with few blocks, so that threads do several runs, and with many. Blocks and threads
// run in the order of their numbers, and in others.
struct Way {
  unsigned most_blocks;
  std::uint32_t order_seed;
};
inline constexpr Way kWays[] = {{1, 0}, {3, 101}, {1000, 30}};

// Calls `launch` with a queue for each way.
template <class Launch>
void in_every_way(Launch launch) {
  for (const auto& [most_blocks, order_seed] : kWays) {
    SCOPED_TRACE("at most " + std::to_string(most_blocks) + " blocks, order " +
                 std::to_string(order_seed));
    host_run::order_seed = order_seed;
    launch(Queue{nullptr, most_blocks});
    host_run::order_seed = 0;
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace rota::kernels::cuda::testing

// Runs blocks and threads on the host in an order that a test chooses, and fills memory that a GPU
// leaves uninitialized. So a test finds a kernel that depends on the order, lacks a barrier, or
// reads what no thread has written.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace rota::kernels::cuda::host_run {

// Decides the order of blocks and threads: 0 is the order of their numbers.
inline constinit std::uint32_t order_seed = 0;

// An order of the numbers below `count`: a rotation, backwards for every other seed.
class Order {
 public:
  explicit Order(unsigned count) noexcept
      : count_(count), first_(count == 0 ? 0 : order_seed % count) {}

  unsigned operator[](unsigned index) const noexcept {
    const unsigned turned = order_seed % 2 == 0 ? index : count_ - 1 - index;
    return static_cast<unsigned>((std::size_t{turned} + first_) % count_);
  }

 private:
  unsigned count_;
  unsigned first_;
};

template <class T>
class Uninitialized {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  explicit Uninitialized(std::size_t count) : count_(count), all_(new T[count]) {}

  T* data() const noexcept { return all_.get(); }
  void forget() const noexcept {  // As floats, these bytes are NaN.
    std::memset(static_cast<void*>(all_.get()), 0xff, count_ * sizeof(T));
  }

 private:
  std::size_t count_;
  std::unique_ptr<T[]> all_;
};

}  // namespace rota::kernels::cuda::host_run

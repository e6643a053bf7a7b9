// Gives a Communicator's memory to standard containers:
//   std::vector<float, rota::SharedAllocator<float>> values(1000, rota::SharedAllocator<float>(c));
#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

#include <rota/communicator.h>
#include <rota/export.h>

namespace rota {

// Keeps each block until its address is released. Thread-safe. Blocks may outlive the Communicator.
class ROTA_EXPORT BlockShelf {
 public:
  explicit BlockShelf(const Communicator& communicator);
  ~BlockShelf();

  // Throws what Communicator::allocate throws; kClosed if the Communicator was closed.
  void* allocate(std::size_t bytes);
  void release(void* address) noexcept;

 private:
  struct ROTA_HIDDEN State;
  std::unique_ptr<State> state_;
};

template <class T>
class ROTA_EXPORT SharedAllocator {
 public:
  using value_type = T;  // NOLINT: the standard library's name.
  static_assert(alignof(T) <= 64);

  explicit SharedAllocator(const Communicator& communicator)
      : shelf_(std::make_shared<BlockShelf>(communicator)) {}
  template <class U>
  SharedAllocator(const SharedAllocator<U>& other) noexcept  // NOLINT: containers convert it.
      : shelf_(other.shelf_) {}

  // Throws std::bad_array_new_length, and what Communicator::allocate throws.
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(shelf_->allocate(count * sizeof(T)));
  }
  void deallocate(T* address, std::size_t) noexcept { shelf_->release(address); }

  template <class U>
  friend bool operator==(const SharedAllocator& a, const SharedAllocator<U>& b) noexcept {
    return a.shelf_ == b.shelf_;
  }

 private:
  template <class U>
  friend class SharedAllocator;
  std::shared_ptr<BlockShelf> shelf_;
};

}  // namespace rota

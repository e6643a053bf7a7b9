// Working memory of a module: aligned to a cache line, not initialised.
#pragma once
#include <cstddef>
#include <memory>
#include <new>

namespace rota::nn {

constexpr std::size_t kAlignment = 64;

template <class T>
class Buffer {
 public:
  T* data() const noexcept { return data_.get(); }

  // Makes room for `count` elements. If the buffer grows, its old contents are lost.
  void reserve(std::size_t count) {
    if (count <= count_) return;
    data_.reset();  // Frees the old memory first: there may be no room for both.
    count_ = 0;
    data_.reset(static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kAlignment))));
    count_ = count;
  }

 private:
  struct Deleter {
    void operator()(T* data) const noexcept {
      ::operator delete(data, std::align_val_t(kAlignment));
    }
  };
  std::unique_ptr<T, Deleter> data_;
  std::size_t count_ = 0;
};

}  // namespace rota::nn

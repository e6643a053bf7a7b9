// Makes a device the one that CUDA's functions work on, and knows how many blocks fill it. The
// header needs nothing of CUDA, so what calls kernels can be tested without CUDA.
#pragma once
#include <cstdint>

namespace rota::cuda {

// Makes the device the calling thread's until leave(). Then the thread has again what it had
// before, a device or a context that the program has made. Return 0, or CUDA's error code.
int enter(std::uint8_t device) noexcept;
int leave() noexcept;

// While it exists, the device is the calling thread's. Afterwards the thread has the device that it
// had before, and no other device is touched.
class Current {
 public:
  explicit Current(std::uint8_t device) noexcept : error_(enter(device)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (error_ == 0) leave();
  }

  // Returns 0, or CUDA's error code: then the device is not the thread's.
  int error() const noexcept { return error_; }

 private:
  int error_;
};

// Returns a device that this process uses, for what needs just any. 0 if it uses none yet.
std::uint8_t any_used_device() noexcept;

// Returns how many blocks of a kernel fill the device. At least 1.
unsigned blocks_that_fill(std::uint8_t device) noexcept;

}  // namespace rota::cuda

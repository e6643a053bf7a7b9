// Says where the kernels of these tests run: on the host, as loops, or on a GPU. The program
// gpu_kernels_test, which ./dev gpu starts, has the same tests for a GPU. Its arrays are in pinned
// memory, which the GPU reaches at the host's addresses. So a test gives kernels only what lies in
// such Memory, as Guarded does.
#pragma once
#include <cstddef>
#include <vector>

namespace rota::kernels::cuda::testing {

#if defined(ROTA_ON_GPU)

inline constexpr bool kIsOnGpu = true;

std::byte* take_pinned(std::size_t bytes);
void give_pinned(std::byte* address, std::size_t bytes) noexcept;

template <class T>
struct PinnedAllocator {
  using value_type = T;  // NOLINT: the standard library's name.
  T* allocate(std::size_t count) { return reinterpret_cast<T*>(take_pinned(count * sizeof(T))); }
  void deallocate(T* address, std::size_t count) noexcept {
    give_pinned(reinterpret_cast<std::byte*>(address), count * sizeof(T));
  }
  friend bool operator==(const PinnedAllocator&, const PinnedAllocator&) { return true; }
};
using Memory = std::vector<std::byte, PinnedAllocator<std::byte>>;

// Waits until the GPU has done all kernels.
void finish();

#else

inline constexpr bool kIsOnGpu = false;
using Memory = std::vector<std::byte>;
inline void finish() {}

#endif

}  // namespace rota::kernels::cuda::testing

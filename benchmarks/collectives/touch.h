// Does what a training run does with its gradients between two calls: writes all of them, and reads
// all sums.
#pragma once
#include <cstddef>
#include <span>

namespace rota::bench {

// Writes zeros with the plain stores of a loop: memset() may bypass the caches.
void rewrite(std::span<std::byte> bytes) noexcept;

void read_all(std::span<const std::byte> bytes) noexcept;

}  // namespace rota::bench

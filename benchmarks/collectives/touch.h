// What a training does to its gradients between two calls: it writes all of them, and reads all of
// their sums.
#pragma once
#include <cstddef>
#include <span>

namespace rota::bench {

// Writes zeros, as plain stores of a loop would: memset() may go past the caches.
void rewrite(std::span<std::byte> bytes) noexcept;

void read_all(std::span<const std::byte> bytes) noexcept;

}  // namespace rota::bench

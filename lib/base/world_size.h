// The limit of a world's size.
#pragma once
#include <cstddef>

namespace rota::base {

// More ranks, hosts or slots than this count as a mistake.
inline constexpr std::size_t kMaxWorldSize = 4096;

}  // namespace rota::base

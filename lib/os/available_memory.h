// Finds out how much memory this host can still give to processes.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rota::os {

// Returns how many bytes the host can still give before it kills a process: memory and swap.
// Returns nothing if the kernel does not say so (before Linux 3.14). Allocates nothing.
std::optional<std::uint64_t> available_memory_bytes() noexcept;

// Adds the lines "MemAvailable:   2048 kB" and "SwapFree:   1024 kB" of /proc/meminfo. A system
// without swap may lack the second line.
std::optional<std::uint64_t> parse_available_memory(std::string_view text) noexcept;

}  // namespace rota::os

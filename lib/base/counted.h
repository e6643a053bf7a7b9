// Writes a count with its noun, in texts for people.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace rota::base {

// Returns a text such as "1 process" or "3 processes". `several` is the plural of `one`.
inline std::string counted(std::uint64_t count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

inline std::string counted_ranks(std::uint64_t count) { return counted(count, "rank", "ranks"); }

inline std::string counted_hosts(std::uint64_t count) { return counted(count, "host", "hosts"); }

inline std::string counted_samples(std::uint64_t count) {
  return counted(count, "sample", "samples");
}

}  // namespace rota::base

// Parses the value of --sizes.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rota::bench {

// Parses sizes in bytes: "4,1K,64M", ranges such as "4:256M:x4" (from 4 bytes to at most 256 MiB,
// each four times the one before), and lists of both. Throws std::invalid_argument, which names the
// option, and an entry that is neither a positive size nor a range.
std::vector<std::size_t> parse_sizes(const std::string& text, std::string_view option = "sizes");

// Returns "4 B", "64 KiB", "1 MiB": in the largest unit that divides `bytes`.
std::string to_words(std::size_t bytes);

}  // namespace rota::bench

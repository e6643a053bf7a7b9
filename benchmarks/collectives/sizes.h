// Lists of sizes, as they are typed.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace rota::bench {

// Bytes of "4,1K,64M", of "4:256M:x4" (from 4 to at most 256 MiB, each four times the one before)
// and of lists of both. Throws std::invalid_argument, naming the entry, where one is no positive
// size or no such range.
std::vector<std::size_t> parse_sizes(const std::string& text);

// "4 B", "64 KiB", "1 MiB": the largest unit of which it is a multiple.
std::string to_words(std::size_t bytes);

}  // namespace rota::bench

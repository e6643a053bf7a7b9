// Words and columns that several commands print.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"

namespace rota::launcher {

// Returns a text such as "[784, 10]".
std::string shape_text(const std::vector<std::size_t>& shape);

// Returns a text such as "5.4 MB", with units of 1000.
std::string size_text(std::uint64_t bytes);

std::uint64_t bytes_of_files(const checkpoint::Manifest& manifest);

// Aligns the columns of a table. All but the first column are aligned to the right.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace rota::launcher

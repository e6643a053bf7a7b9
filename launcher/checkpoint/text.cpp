// Words and columns that several commands print.
#include "launcher/checkpoint/text.h"

#include <algorithm>
#include <array>

#include "base/number_text.h"

namespace rota::launcher {

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t side : shape) text += (text.empty() ? "" : ", ") + std::to_string(side);
  return "[" + text + "]";
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return base::fixed_text(value, value < 9.95 && unit > 0 ? 1 : 0) + " " + kUnits[unit];
}

std::uint64_t bytes_of_files(const checkpoint::Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const checkpoint::ManifestFile& file : manifest.files) bytes += file.bytes;
  return bytes;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      text += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    text += "\n";
  }
  return text;
}

}  // namespace rota::launcher

// Writes and reads runs of rows as text.
#include "checkpoint/metadata.h"

#include <charconv>

namespace rota::checkpoint {

std::string to_text(const Rows& rows, std::size_t all) {
  return std::to_string(rows.first) + ".." + std::to_string(rows.first + rows.count - 1) + " of " +
         std::to_string(all);
}

std::optional<Rows> rows_from(std::string_view text, std::size_t all) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  std::size_t first = 0;
  std::size_t last = 0;
  const char* middle = text.data() + dots;
  const char* end = text.data() + text.size();
  std::from_chars(text.data(), middle, first);
  std::from_chars(middle + 2, end, last);
  if (first > last || last >= all) return std::nullopt;
  const Rows rows{.first = first, .count = last - first + 1};
  if (to_text(rows, all) != text) return std::nullopt;
  return rows;
}

}  // namespace rota::checkpoint

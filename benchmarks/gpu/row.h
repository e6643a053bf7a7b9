// One figure of the page about GPUs, as a line of JSON.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace rota::bench::gpu {

struct Row {
  std::string what;        // Such as "SGD, 64 MiB".
  double value = 0;        // In `unit`.
  std::string unit;        // Such as "GB/s". Larger is better.
  std::string peer;        // What it is compared with, such as "a copy of the device".
  double peer_value = 0;   // In `unit`.
  double least_ratio = 0;  // The target: value / peer_value should have at least this.
  std::string why_not{};   // Not empty: the row could not be measured, for this reason.

  double ratio() const noexcept { return peer_value > 0 ? value / peer_value : 0; }
};

// Returns a line without a line break.
std::string to_json(const Row& row);

// Returns nothing if the line is no row.
std::optional<Row> row_of_json(const std::string& line);

// Returns a table of Markdown with the rows of these lines. Skips lines that are no rows.
std::string table_of(const std::string& lines);

}  // namespace rota::bench::gpu

// Writes and reads rows.
#include "all_reduce/row.h"

#include <array>
#include <cstdio>

namespace rota::bench {

std::string to_json(const Row& row) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(),
                "{\"name\": \"%s\", \"ranks\": %zu, \"bytes\": %zu, \"calls_per_sample\": %zu, "
                "\"min_seconds\": %.9g, \"median_seconds\": %.9g, \"peak_memory_bytes\": %zu, "
                "\"algorithm_bytes_per_second\": %.6g, \"bus_bytes_per_second\": %.6g}",
                row.name.c_str(), row.ranks, row.bytes, row.calls_per_sample, row.min_seconds,
                row.median_seconds, row.peak_memory_bytes, row.algorithm_bandwidth(),
                row.bus_bandwidth());
  return text.data();
}

std::optional<Row> parse_row(const std::string& json) {
  Row row;
  std::array<char, 64> name{};
  constexpr int kFields = 7;  // The bandwidths follow from the others.
  const int found = std::sscanf(
      json.c_str(),
      "{\"name\": \"%63[^\"]\", \"ranks\": %zu, \"bytes\": %zu, \"calls_per_sample\": %zu, "
      "\"min_seconds\": %lf, \"median_seconds\": %lf, \"peak_memory_bytes\": %zu, ",
      name.data(), &row.ranks, &row.bytes, &row.calls_per_sample, &row.min_seconds,
      &row.median_seconds, &row.peak_memory_bytes);
  if (found != kFields) return std::nullopt;
  row.name = name.data();
  return row;
}

}  // namespace rota::bench

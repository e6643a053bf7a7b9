// What one program found for one size, and the line of JSON that says it.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace rota::bench {

// Times are by the call, in seconds, of the slowest rank.
struct Row {
  std::string name;  // Of what was measured: "rota shm". Has no quotes.
  std::size_t ranks = 0;
  std::size_t bytes = 0;
  std::size_t calls_per_sample = 0;
  double min_seconds = 0;
  double median_seconds = 0;
  std::size_t peak_memory_bytes = 0;  // Of the rank that has used the most so far.

  double algorithm_bandwidth() const { return static_cast<double>(bytes) / median_seconds; }
  double bus_bandwidth() const {
    return algorithm_bandwidth() * 2 * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  }
};

std::string to_json(const Row& row);

// Reads what to_json wrote, and no other JSON; empty for anything else.
std::optional<Row> parse_row(const std::string& json);

}  // namespace rota::bench

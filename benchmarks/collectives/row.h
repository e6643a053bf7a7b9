// What one program found for one piece of work, and the line of JSON that says it.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "collectives/work.h"

namespace rota::bench {

// Times are by the call, in seconds, of the slowest rank.
struct Row {
  std::string name;  // Of what was measured: "rota shm". Has no quotes.
  std::size_t ranks = 0;
  Work work{};
  std::string plan;
  Memory memory = Memory::kShared;
  State state = State::kWarm;
  Calls calls = Calls::kIsolated;
  double min_seconds = 0;
  double median_seconds = 0;
  double p99_seconds = 0;
  std::optional<std::size_t> errors;  // Wrong elements on all ranks together, where it was checked.
  // Of a codec, where it was checked: root mean square, in that of the exact results. Then errors
  // are ranks whose bits are not rank 0's.
  std::optional<double> relative_error{};
  std::size_t peak_memory_bytes = 0;  // Of the rank that has used the most so far.

  // What nccl-tests call count: of a part, where there are parts.
  std::size_t count() const { return has_parts(work.collective) ? work.total / ranks : work.total; }
  double algorithm_bandwidth() const { return static_cast<double>(work.bytes()) / median_seconds; }
  double bus_bandwidth() const {
    return algorithm_bandwidth() * bus_factor(work.collective, ranks);
  }
};

// "sum", or "none" for a collective without an operation.
std::string op_name(const Work& work);

std::string to_json(const Row& row);

// Reads what to_json wrote; empty for anything else.
std::optional<Row> parse_row(const std::string& text);

}  // namespace rota::bench

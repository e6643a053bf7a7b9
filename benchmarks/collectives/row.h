// The result of one program for one piece of work (see work.h), and its line of JSON.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "collectives/work.h"

namespace rota::bench {

// Times are seconds per call of the slowest rank.
struct Row {
  std::string name;  // Name of what was measured: "rota shm". Contains no quotes.
  std::size_t ranks = 0;
  Work work{};
  std::string plan;
  Memory memory = Memory::kShared;
  State state = State::kWarm;
  Calls calls = Calls::kIsolated;
  double min_seconds = 0;
  double median_seconds = 0;
  double p99_seconds = 0;
  std::optional<std::size_t> errors;  // Wrong elements on all ranks, if checked.
  // Loss of a codec, if checked: RMS of the error / RMS of the exact results. `errors` then counts
  // ranks whose bits differ from rank 0's.
  std::optional<double> relative_error{};
  std::size_t peak_memory_bytes = 0;  // Largest peak of all ranks so far.

  // Returns the count that nccl-tests prints: the elements of one part if there are parts,
  // otherwise all elements.
  std::size_t count() const { return has_parts(work.collective) ? work.total / ranks : work.total; }
  double algorithm_bandwidth() const { return static_cast<double>(work.bytes()) / median_seconds; }
  double bus_bandwidth() const {
    return algorithm_bandwidth() * bus_factor(work.collective, ranks);
  }
};

// Returns the operation, such as "sum", or "none" for a collective without an operation.
std::string op_name(const Work& work);

std::string to_json(const Row& row);

// Parses a line that to_json() wrote. Returns empty for any other string.
std::optional<Row> parse_row(const std::string& text);

}  // namespace rota::bench

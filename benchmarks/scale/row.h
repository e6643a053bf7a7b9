// The result of `rota-bench scale` in numbers, as text for people, and as JSON for programs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "scale/contest.h"

namespace rota::bench {

// A quantity over the rounds.
struct Range {
  double median = 0;
  double least = 0;
  double most = 0;
};

struct ScaleRow {
  std::string name;         // Of the library: "rota".
  std::string transport{};  // Of rota: "tcp". Empty if it has none.
  std::string model;        // "lenet"
  Scaling scaling = Scaling::kWeak;
  bool is_real = false;
  std::size_t ranks = 0;
  std::size_t hosts = 0;
  std::size_t batch_size = 0;      // Of a rank, or of all ranks together if the scaling is strong.
  std::optional<double> megabits;  // The rate of a host's cable.
  std::size_t gradient_bytes = 0;
  Range step{};  // Seconds, as are the next four.
  Range waiting{};
  Range computing{};
  Range communication{};
  double least_step = 0;  // 0 if no bound is known: for steps that are not paced, or no rate.
  Range efficiency{};     // A share: 1 is perfect.

  std::string full_name() const { return transport.empty() ? name : name + " " + transport; }

  // Returns the efficiency that no library can exceed: at most 1, although sleeping ranks compute a
  // little longer than their pace says. Requires least_step > 0.
  double most_efficiency() const noexcept { return std::min(1.0, computing.median / least_step); }
};

std::string to_string(Scaling scaling);  // "weak", "strong"

// Returns the scaling that is named so. Throws std::invalid_argument for another name.
Scaling scaling_named(const std::string& name);

// Returns a rate for people: "1 Gbit/s", "100 Mbit/s".
std::string rate_text(double megabits);

// The efficiency of a round is the time in which one rank computes its share of the work, divided
// by the time of the step.
ScaleRow row_of(const ScaleResult& result);

// Both strings end in a newline. The first is a table, the second one line of JSON.
std::string to_text(const ScaleRow& row);
std::string to_json(const ScaleRow& row);

// Reads what to_json() has written. Throws std::runtime_error with the line if it is not a row.
ScaleRow scale_row_from(const std::string& line);

}  // namespace rota::bench

// Computes medians and ratios, and prints them.
#include "overlap/report.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "statistics.h"

namespace rota::bench {
namespace {

constexpr std::size_t kMaxLine = 400;

struct Line {
  const char* name;
  const char* title;
  const std::vector<double> ContestTimes::*seconds;
  bool trains;  // The report shows the images a second of this line.
};

constexpr Line kLines[] = {
    {"overlapped", "sums during the backward pass", &ContestTimes::overlapped, true},
    {"at_end", "sums at its end", &ContestTimes::at_end, true},
    {"compute", "computing alone", &ContestTimes::compute, true},
    {"communication", "communication alone", &ContestTimes::communication, false},
};

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  std::array<char, kMaxLine> line{};
  std::snprintf(line.data(), line.size(), pattern, arguments...);
  return line.data();
}

template <class Function>
Spread spread_by_round(const ContestTimes& times, const Function& function) {
  std::vector<double> samples;
  for (std::size_t round = 0; round < times.overlapped.size(); ++round) {
    samples.push_back(
        function(times.overlapped[round], times.at_end[round], times.communication[round]));
  }
  return spread_of(samples);
}

double images_per_second(const ContestResult& result, double seconds) {
  return static_cast<double>(result.ranks * result.options.batch_size) / seconds;
}

std::string text_of(const Line& line, const ContestResult& result) {
  const Spread seconds = spread_of(result.times.*line.seconds);
  const std::string text = format("%-30s %9.2f  (%.2f to %.2f)", line.title, seconds.median * 1e3,
                                  seconds.least * 1e3, seconds.most * 1e3);
  return line.trains
             ? format("%-64s %9.0f\n", text.c_str(), images_per_second(result, seconds.median))
             : text + "\n";
}

std::string json_of(const Line& line, const ContestResult& result) {
  const Spread seconds = spread_of(result.times.*line.seconds);
  std::string row = format(
      R"({"name": "%s", "transport": "%s", "ranks": %zu, "batch_size": %zu, )"
      R"("steps": %zu, "rounds": %zu, "median_seconds": %.9g, "min_seconds": %.9g, )"
      R"("max_seconds": %.9g)",
      line.name, result.transport.c_str(), result.ranks, result.options.batch_size,
      result.options.steps, result.options.rounds, seconds.median, seconds.least, seconds.most);
  if (line.trains) {
    row += format(R"(, "images_per_second": %.6g)", images_per_second(result, seconds.median));
  }
  return row + "}\n";
}

}  // namespace

Spread spread_of(const std::vector<double>& samples) {
  return {median(samples), std::ranges::min(samples), std::ranges::max(samples)};
}

Spread gain_of(const ContestTimes& times) {
  return spread_by_round(
      times, [](double overlapped, double at_end, double) { return at_end / overlapped; });
}

Spread hidden_share_of(const ContestTimes& times) {
  return spread_by_round(times, [](double overlapped, double at_end, double communication) {
    return (at_end - overlapped) / communication;
  });
}

// In the ring and in the direct plan, a rank sends n - 1 of n chunks to be added, and n - 1 sums.
double link_bytes_per_second(const ContestResult& result) {
  const auto ranks = static_cast<double>(result.ranks);
  return static_cast<double>(result.gradient_bytes) * 2 * (ranks - 1) / ranks /
         median(result.times.communication);
}

std::string to_text(const ContestResult& result) {
  const ContestOptions& options = result.options;
  std::string text = format(
      "# training lenet, float32, batches of %zu: %s, %zu ranks, %zu rounds of %zu steps each;\n"
      "# %.2f MB of gradients in %zu buckets, or in one at the end\n%-30s %9s  %-22s %9s\n",
      options.batch_size, result.transport.c_str(), result.ranks, options.rounds, options.steps,
      static_cast<double>(result.gradient_bytes) * 1e-6, result.bucket_count, "", "ms/step",
      "(least to most)", "images/s");
  for (const Line& line : kLines) text += text_of(line, result);
  const Spread gain = gain_of(result.times);
  const Spread hidden = hidden_share_of(result.times);
  text += format("%-30s %9.2f  (%.2f to %.2f)\n", "times as fast with overlap", gain.median,
                 gain.least, gain.most);
  text += format("%-30s %9.2f  (%.2f to %.2f)\n", "share of communication hidden", hidden.median,
                 hidden.least, hidden.most);
  text += format("%-30s %9.2f\n", "Gbit/s each way, communicating",
                 link_bytes_per_second(result) * 8e-9);
  return text;
}

std::string to_json(const ContestResult& result) {
  std::string rows;
  for (const Line& line : kLines) rows += json_of(line, result);
  const Spread gain = gain_of(result.times);
  const Spread hidden = hidden_share_of(result.times);
  return rows +
         format(R"({"name": "gain", "transport": "%s", "ranks": %zu, "gradient_bytes": %zu, )"
                R"("buckets": %zu, "times_as_fast": %.6g, "min_times_as_fast": %.6g, )"
                R"("max_times_as_fast": %.6g, "hidden_share": %.6g, "min_hidden_share": %.6g, )"
                R"("max_hidden_share": %.6g, "link_bytes_per_second": %.6g, )",
                result.transport.c_str(), result.ranks, result.gradient_bytes, result.bucket_count,
                gain.median, gain.least, gain.most, hidden.median, hidden.least, hidden.most,
                link_bytes_per_second(result)) +
         format(R"("overlapped_hash": "%016)" PRIx64 R"(", "at_end_hash": "%016)" PRIx64 "\"}\n",
                result.overlapped_hash, result.at_end_hash);
}

}  // namespace rota::bench

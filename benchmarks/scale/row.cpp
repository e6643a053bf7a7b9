// Takes medians and ratios, writes rows, and reads them.
#include "scale/row.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "statistics.h"

namespace rota::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxLine = 300;

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  std::array<char, kMaxLine> line{};
  std::snprintf(line.data(), line.size(), pattern, arguments...);
  return line.data();
}

Range range_of(const std::vector<double>& samples) {
  return {median(samples), std::ranges::min(samples), std::ranges::max(samples)};
}

// Ranks that share a batch each have a part of the time that one rank takes for the whole of it.
std::vector<double> efficiencies_of(const ScaleResult& result) {
  const ScaleTimes& times = result.times;
  std::vector<double> shares;
  for (std::size_t round = 0; round < times.step.size(); ++round) {
    const double alone = times.whole.empty()
                             ? times.computing[round]
                             : times.whole[round] / static_cast<double>(result.ranks);
    shares.push_back(alone / times.step[round]);
  }
  return shares;
}

ordered_json json_of(const Range& range) { return {range.median, range.least, range.most}; }

Range range_from(const ordered_json& values) {
  return {values.at(0).get<double>(), values.at(1).get<double>(), values.at(2).get<double>()};
}

std::string line_of(const char* title, const Range& range, double factor) {
  return format("%-30s %9.2f  (%.2f to %.2f)\n", title, range.median * factor, range.least * factor,
                range.most * factor);
}

ScaleRow row_from(const ordered_json& row) {
  ScaleRow result{.name = row.at("name").get<std::string>(),
                  .transport = row.at("transport").get<std::string>(),
                  .model = row.at("model").get<std::string>(),
                  .scaling = scaling_named(row.at("scaling").get<std::string>()),
                  .is_real = row.at("real").get<bool>(),
                  .ranks = row.at("ranks").get<std::size_t>(),
                  .hosts = row.at("hosts").get<std::size_t>(),
                  .batch_size = row.at("batch_size").get<std::size_t>(),
                  .megabits = {},
                  .gradient_bytes = row.at("gradient_bytes").get<std::size_t>(),
                  .step = range_from(row.at("step_seconds")),
                  .waiting = range_from(row.at("waiting_seconds")),
                  .computing = range_from(row.at("computing_seconds")),
                  .communication = range_from(row.at("communication_seconds")),
                  .least_step = row.at("least_step_seconds").get<double>(),
                  .efficiency = range_from(row.at("efficiency"))};
  if (!row.at("megabits").is_null()) result.megabits = row.at("megabits").get<double>();
  return result;
}

}  // namespace

std::string to_string(Scaling scaling) { return scaling == Scaling::kWeak ? "weak" : "strong"; }

Scaling scaling_named(const std::string& name) {
  if (name == "weak") return Scaling::kWeak;
  if (name == "strong") return Scaling::kStrong;
  throw std::invalid_argument("--scaling: '" + name + "' is neither weak nor strong");
}

std::string rate_text(double megabits) {
  return megabits >= 1000 ? format("%g Gbit/s", megabits * 1e-3) : format("%g Mbit/s", megabits);
}

ScaleRow row_of(const ScaleResult& result) {
  const ScaleOptions& options = result.options;
  return {.name = result.name,
          .transport = result.transport,
          .model = options.model,
          .scaling = options.scaling,
          .is_real = options.is_real,
          .ranks = result.ranks,
          .hosts = result.hosts,
          .batch_size = options.batch_size,
          .megabits = options.megabits,
          .gradient_bytes = result.gradient_bytes,
          .step = range_of(result.times.step),
          .waiting = range_of(result.times.waiting),
          .computing = range_of(result.times.computing),
          .communication = range_of(result.times.communication),
          .least_step = result.least_step,
          .efficiency = range_of(efficiencies_of(result))};
}

std::string to_text(const ScaleRow& row) {
  std::string text =
      format("# %s: %s %s, %s scaling, batches of %zu%s: %zu ranks on %zu hosts;\n",
             row.full_name().c_str(), row.is_real ? "training" : "paced steps of",
             row.model.c_str(), to_string(row.scaling).c_str(), row.batch_size,
             row.scaling == Scaling::kWeak ? " for each rank" : " for all ranks", row.ranks,
             row.hosts) +
      format("# %.2f MB of gradients\n%-30s %9s  %s\n",
             static_cast<double>(row.gradient_bytes) * 1e-6, "", "ms/step", "(least to most)");
  text += line_of("step", row.step, 1e3) + line_of("  waiting for sums", row.waiting, 1e3) +
          line_of("computing alone", row.computing, 1e3) +
          line_of("communication alone", row.communication, 1e3) +
          line_of("efficiency, %", row.efficiency, 1e2);
  if (row.least_step > 0) {
    text += format("%-30s %9.2f\n", "bytes allow, computed, %", row.most_efficiency() * 1e2);
  }
  return text;
}

std::string to_json(const ScaleRow& row) {
  const ordered_json object = {
      {"name", row.name},
      {"transport", row.transport},
      {"model", row.model},
      {"scaling", to_string(row.scaling)},
      {"real", row.is_real},
      {"ranks", row.ranks},
      {"hosts", row.hosts},
      {"batch_size", row.batch_size},
      {"megabits", row.megabits ? ordered_json(*row.megabits) : ordered_json()},
      {"gradient_bytes", row.gradient_bytes},
      {"step_seconds", json_of(row.step)},
      {"waiting_seconds", json_of(row.waiting)},
      {"computing_seconds", json_of(row.computing)},
      {"communication_seconds", json_of(row.communication)},
      {"least_step_seconds", row.least_step},
      {"efficiency", json_of(row.efficiency)}};
  return object.dump() + "\n";
}

ScaleRow scale_row_from(const std::string& line) {
  try {
    return row_from(ordered_json::parse(line));
  } catch (const std::exception&) {
    throw std::runtime_error("this is no row of rota-bench scale: " + line);
  }
}

}  // namespace rota::bench

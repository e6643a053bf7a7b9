// Writes rows as JSON, and reads them.
#include "collectives/row.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "collectives/names.h"

namespace rota::bench {
namespace {

using nlohmann::json;

constexpr double kMicrosecond = 1e-6;

template <class Values>
auto take_named(const json& row, const char* key, const Values& all) {
  const auto value = value_named(all, row.at(key).get<std::string>());
  if (!value) throw std::invalid_argument(key);
  return *value;
}

Work work_from(const json& row, std::size_t ranks) {
  Work work{.collective = take_named(row, "collective", all_collectives()),
            .type = take_named(row, "type", kDataTypes),
            .op = ReduceOp::kSum,
            .codec = take_named(row, "codec", kCodecs),
            .placement = take_named(row, "placement", kPlacements),
            .total = row.at("count").get<std::size_t>()};
  if (reduces(work.collective)) work.op = take_named(row, "op", kReduceOps);
  if (has_parts(work.collective)) work.total *= ranks;
  return work;
}

Row row_from(const json& row) {
  const auto seconds = [&](const char* key) { return row.at(key).get<double>() * kMicrosecond; };
  Row result{.name = row.at("name").get<std::string>(),
             .ranks = row.at("ranks").get<std::size_t>(),
             .work = {},
             .plan = row.at("plan").get<std::string>(),
             .memory = take_named(row, "memory", kMemories),
             .state = take_named(row, "state", kStates),
             .calls = take_named(row, "calls", kCalls),
             .min_seconds = seconds("min_us"),
             .median_seconds = seconds("median_us"),
             .p99_seconds = seconds("p99_us"),
             .errors = {},
             .peak_memory_bytes = row.at("peak_memory_bytes").get<std::size_t>()};
  result.work = work_from(row, result.ranks);
  if (!row.at("relative_error").is_null()) {
    result.relative_error = row.at("relative_error").get<double>();
  }
  if (!row.at("errors").is_null()) result.errors = row.at("errors").get<std::size_t>();
  return result;
}

}  // namespace

std::string op_name(const Work& work) {
  return reduces(work.collective) ? std::string(to_string(work.op)) : "none";
}

std::string to_json(const Row& row) {
  const auto text = [](std::string_view view) { return std::string(view); };
  std::array<char, 32> error = {"null"};
  if (row.relative_error) std::snprintf(error.data(), error.size(), "%.3g", *row.relative_error);
  std::array<char, 704> line{};
  std::snprintf(
      line.data(), line.size(),
      R"({"name": "%s", "ranks": %zu, "collective": "%s", "bytes": %zu, "count": %zu, )"
      R"("type": "%s", "op": "%s", "plan": "%s", "codec": "%s", "memory": "%s", )"
      R"("state": "%s", "calls": "%s", "placement": "%s", "min_us": %.6g, "median_us": %.6g, )"
      R"("p99_us": %.6g, "algbw_gbps": %.6g, "busbw_gbps": %.6g, "errors": %s, )"
      R"("relative_error": %s, "peak_memory_bytes": %zu})",
      row.name.c_str(), row.ranks, text(to_string(row.work.collective)).c_str(), row.work.bytes(),
      row.count(), text(to_string(row.work.type)).c_str(), op_name(row.work).c_str(),
      row.plan.c_str(), text(to_string(row.work.codec)).c_str(),
      text(to_string(row.memory)).c_str(), text(to_string(row.state)).c_str(),
      text(to_string(row.calls)).c_str(), text(to_string(row.work.placement)).c_str(),
      row.min_seconds / kMicrosecond, row.median_seconds / kMicrosecond,
      row.p99_seconds / kMicrosecond, row.algorithm_bandwidth() * 1e-9, row.bus_bandwidth() * 1e-9,
      row.errors ? std::to_string(*row.errors).c_str() : "null", error.data(),
      row.peak_memory_bytes);
  return line.data();
}

std::optional<Row> parse_row(const std::string& text) {
  try {
    return row_from(json::parse(text));
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace rota::bench

// Writes and reads rows, and makes the table of the page.
#include "gpu/row.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

namespace rota::bench::gpu {
namespace {

using nlohmann::json;

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.2f" : "%.0f", value);
  return text.data();
}

std::string percent_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return text.data();
}

std::string line_of(const Row& row) {
  if (!row.why_not.empty()) return "| " + row.what + " | not run: " + row.why_not + " | | | |\n";
  return "| " + row.what + " | " + number_text(row.value) + " " + row.unit + " | " + row.peer +
         ": " + number_text(row.peer_value) + " " + row.unit + " | " + percent_text(row.ratio()) +
         " | ≥ " + percent_text(row.least_ratio) + " |\n";
}

}  // namespace

std::string to_json(const Row& row) {
  json line = {{"what", row.what}};
  if (!row.why_not.empty()) {
    line["not_run"] = row.why_not;
  } else {
    line["value"] = row.value;
    line["unit"] = row.unit;
    line["peer"] = row.peer;
    line["peer_value"] = row.peer_value;
    line["ratio"] = row.ratio();
    line["least_ratio"] = row.least_ratio;
  }
  return line.dump();
}

std::optional<Row> row_of_json(const std::string& line) {
  const json read = json::parse(line, nullptr, false);
  if (!read.is_object() || !read.contains("what")) return std::nullopt;
  try {
    Row row{.what = read["what"], .unit = read.value("unit", ""), .peer = read.value("peer", "")};
    row.value = read.value("value", 0.0);
    row.peer_value = read.value("peer_value", 0.0);
    row.least_ratio = read.value("least_ratio", 0.0);
    row.why_not = read.value("not_run", "");
    return row;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string table_of(const std::string& lines) {
  std::string table =
      "| what | rota | peer or limit, in the same run | ratio | target |\n"
      "| --- | --- | --- | --- | --- |\n";
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (const auto row = row_of_json(line)) table += line_of(*row);
  }
  return table;
}

}  // namespace rota::bench::gpu

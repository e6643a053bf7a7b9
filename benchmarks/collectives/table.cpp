// Columns of text.
#include "collectives/table.h"

#include <array>
#include <cstdio>

namespace rota::bench {
namespace {

constexpr std::size_t kMaxText = 200;

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  std::array<char, kMaxText> text{};
  std::snprintf(text.data(), text.size(), pattern, arguments...);
  return text.data();
}

// Of one placement.
constexpr const char* kTimeHead = " %10s %10s %10s %8s %8s %7s %7s";

std::string times_of(const std::optional<Row>& row) {
  if (!row) return format(kTimeHead, "-", "-", "-", "-", "-", "-", "-");
  const std::string errors = row->errors ? std::to_string(*row->errors) : "N/A";
  const std::string loss = row->relative_error ? format("%.1e", *row->relative_error) : "-";
  return format(" %10.2f %10.2f %10.2f %8.3f %8.3f %7s %7s", row->min_seconds * 1e6,
                row->median_seconds * 1e6, row->p99_seconds * 1e6,
                row->algorithm_bandwidth() * 1e-9, row->bus_bandwidth() * 1e-9, errors.c_str(),
                loss.c_str());
}

}  // namespace

std::string table_head(const std::string& name, std::size_t ranks) {
  constexpr const char* kWorkHead = "#%13s %10s %11s %9s %8s %7s %15s %7s %6s %13s";
  const std::string times =
      format(kTimeHead, "min", "median", "p99", "algbw", "busbw", "#wrong", "loss");
  const std::string units = format(kTimeHead, "(us)", "(us)", "(us)", "(GB/s)", "(GB/s)", "", "");
  return format("# %s, %zu ranks\n", name.c_str(), ranks) +
         format(kWorkHead, "", "", "", "", "", "", "", "", "", "") +
         format(" %66s %66s\n", "out-of-place", "in-place") +
         format(kWorkHead, "collective", "size", "count", "type", "op", "plan", "codec", "memory",
                "state", "calls") +
         times + times + "\n" +
         format(kWorkHead, "", "(B)", "(elements)", "", "", "", "", "", "", "") + units + units +
         "\n";
}

std::string table_line(const Line& line) {
  const Row& row = line.out_of_place ? *line.out_of_place : *line.in_place;
  const auto text = [](std::string_view view) { return std::string(view); };
  return format("%14s %10zu %11zu %9s %8s %7s %15s %7s %6s %13s",
                text(to_string(row.work.collective)).c_str(), row.work.bytes(), row.count(),
                text(to_string(row.work.type)).c_str(), op_name(row.work).c_str(), row.plan.c_str(),
                text(to_string(row.work.codec)).c_str(), text(to_string(row.memory)).c_str(),
                text(to_string(row.state)).c_str(), text(to_string(row.calls)).c_str()) +
         times_of(line.out_of_place) + times_of(line.in_place) + "\n";
}

}  // namespace rota::bench

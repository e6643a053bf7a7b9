// Formats lines of measurements into columns.
#include "collectives/table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace rota::bench {
namespace {

constexpr std::size_t kMaxText = 200;
constexpr const char* kWorkColumns = "%12s %12s %8s %7s %5s";
constexpr const char* kTimeColumns = " %8s %7s %7s %6s";  // Columns of one placement.
constexpr const char* kLossColumn = " %7s";

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  std::array<char, kMaxText> text{};
  std::snprintf(text.data(), text.size(), pattern, arguments...);
  return text.data();
}

// Formats a time in microseconds so that it fits into its column.
std::string microseconds(double seconds) {
  const double all = seconds * 1e6;
  return format(all < 99999.5 ? "%.2f" : "%.0f", all);
}

std::string gigabytes(double bytes_a_second) {
  const double all = bytes_a_second * 1e-9;
  return format(all < 999.5 ? "%.3f" : "%.1f", all);
}

std::string wrong_of(const Row& row) {
  if (!row.errors) return "N/A";
  return *row.errors < 1'000'000 ? std::to_string(*row.errors)
                                 : format("%.0e", static_cast<double>(*row.errors));
}

std::string times_of(const std::optional<Row>& row) {
  if (!row) return format(kTimeColumns, "-", "-", "-", "-");
  return format(kTimeColumns, microseconds(row->median_seconds).c_str(),
                gigabytes(row->algorithm_bandwidth()).c_str(),
                gigabytes(row->bus_bandwidth()).c_str(), wrong_of(*row).c_str());
}

// Returns the larger loss of the two placements; empty if no codec was checked.
std::string loss_of_line(const Line& line) {
  std::optional<double> loss;
  for (const auto& row : {line.out_of_place, line.in_place}) {
    if (row) loss = std::max(loss, row->relative_error);
  }
  return loss ? format(kLossColumn, format("%.1e", *loss).c_str()) : "";
}

std::string text_of(const Line& line) {
  const Row& row = line.out_of_place ? *line.out_of_place : *line.in_place;
  const std::string root = has_root(row.work.collective) ? std::to_string(kRoot) : "-1";
  return format(kWorkColumns, std::to_string(row.work.bytes()).c_str(),
                std::to_string(row.count()).c_str(), std::string(to_string(row.work.type)).c_str(),
                op_name(row.work).c_str(), root.c_str()) +
         times_of(line.out_of_place) + times_of(line.in_place) + loss_of_line(line) + "\n";
}

std::string head_of(const Row& row) {
  const auto text = [](std::string_view view) { return std::string(view); };
  std::string head = "# " + text(to_string(row.work.collective));
  if (row.plan != "-") head += ", plan " + row.plan;
  if (row.work.codec != Codec::kIdentity) head += ", codec " + text(to_string(row.work.codec));
  return head + ", " + text(to_string(row.memory)) + " memory, " + text(to_string(row.state)) +
         ", " + text(to_string(row.calls)) + " calls\n";
}

}  // namespace

std::string Table::head(const std::string& name, std::size_t ranks) {
  const auto comment = [](std::string line) {
    line[0] = '#';
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  const std::string times = format(kTimeColumns, "time", "algbw", "busbw", "#wrong");
  const std::string units = format(kTimeColumns, "(us)", "(GB/s)", "(GB/s)", "");
  return format("# %s, %zu ranks\n", name.c_str(), ranks) +
         comment(format(kWorkColumns, "", "", "", "", "") + format(" %31s", "out-of-place    ") +
                 format(" %31s", "in-place      ")) +
         comment(format(kWorkColumns, "size", "count", "type", "redop", "root") + times + times +
                 format(kLossColumn, "loss")) +
         comment(format(kWorkColumns, "(B)", "(elements)", "", "", "") + units + units);
}

void Table::count(const Row& row) {
  ++row_count_;
  bus_bandwidths_ += row.bus_bandwidth();
  if (row.errors) errors_ = errors_.value_or(0) + *row.errors;
}

std::string Table::take_waiting() {
  std::string text;
  for (const Section& section : std::exchange(sections_, {})) {
    if (!section.lines.empty()) text += section.head + section.lines;
  }
  return text;
}

std::string Table::add(const Line& line) {
  const Row& row = line.out_of_place ? *line.out_of_place : *line.in_place;
  for (const auto& placed : {line.out_of_place, line.in_place}) {
    if (placed) count(*placed);
  }
  std::string text;
  const bool goes_on =
      first_ && first_->work.collective == row.work.collective && first_->memory == row.memory;
  if (!goes_on) {
    text = take_waiting();
    first_ = row;
  }
  const std::string head = head_of(row);
  auto found = std::ranges::find(sections_, head, &Section::head);
  if (found == sections_.end()) {
    if (sections_.empty()) text += head;
    found = sections_.insert(found, {head, {}});
  }
  // The first section is printed immediately, line by line.
  (found == sections_.begin() ? text : found->lines) += text_of(line);
  return text;
}

std::string Table::finish() {
  if (row_count_ == 0) return {};
  const std::string wrong =
      errors_ ? std::to_string(*errors_) + (*errors_ == 0 ? " OK" : " FAILED") : "N/A";
  return take_waiting() + "# Out of bounds values : " + wrong + "\n" +
         format("# Avg bus bandwidth    : %g\n",
                bus_bandwidths_ * 1e-9 / static_cast<double>(row_count_));
}

}  // namespace rota::bench

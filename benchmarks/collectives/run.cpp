// Runs a measurement program from its arguments to its tables.
#include "collectives/run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/table.h"
#include "plot/chart.h"

namespace rota::bench {
namespace {

constexpr int kUsageError = 2;

std::string title_of(const Row& row) {
  const auto text = [](std::string_view view) { return std::string(view); };
  return text(to_string(row.work.collective)) + ", " + text(to_string(row.work.type)) + ", " +
         op_name(row.work);
}

std::string curve_name(const Row& row) {
  std::string name = row.name;
  for (const std::string_view word : {to_string(row.memory), to_string(row.state),
                                      to_string(row.calls), to_string(row.work.placement)}) {
    name += " " + std::string(word);
  }
  return name;
}

template <class Named, class Name>
Named& find_or_add(std::vector<Named>& all, Name Named::*name, const std::string& wanted) {
  const auto found = std::ranges::find(all, wanted, name);
  if (found != all.end()) return *found;
  all.push_back({});
  all.back().*name = wanted;
  return all.back();
}

std::string drawing_of(const std::string& title, const std::vector<Row>& rows) {
  std::vector<Chart> charts;
  for (const Row& row : rows) {
    Chart& chart = find_or_add(charts, &Chart::title, title_of(row));
    Curve& curve = find_or_add(chart.curves, &Curve::name, curve_name(row));
    curve.points.push_back({row.work.bytes(), row.median_seconds});
  }
  return draw_charts(title, charts);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("--plot: cannot write " + path);
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string objects_of(const Line& line) {
  std::string text;
  for (const auto& row : {line.out_of_place, line.in_place}) {
    if (row) text += to_json(*row) + "\n";
  }
  return text;
}

// Returns the time from `since` until the slowest rank has the sum of one float.
double milliseconds_to_first_sum(Group& group, double since) {
  const Work work{.total = 1};
  const auto memory = group.allocate(work.bytes(), Memory::kAny);
  const PreparedCall call = group.prepare(work, {memory.get(), memory.get()});
  if (!call.make) throw std::runtime_error(group.name() + " has no all-reduce of floats");
  call.make();
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const double taken = (now.count() - since) * 1e3;
  return std::ranges::max(group.gather_from_all({&taken, 1}));
}

}  // namespace

int run_measurement(Group& group, const Arguments& arguments) {
  const bool speaks = group.rank() == 0;
  if (arguments.since) {
    const double taken = milliseconds_to_first_sum(group, *arguments.since);
    if (speaks) std::printf("%.3f\n", taken);
    return 0;
  }
  const bool has_table = speaks && !arguments.json;
  if (has_table) print(Table::head(group.name(), group.world_size()));
  Table table;
  std::vector<Row> rows;
  measure(group, arguments.method, [&](const Line& line) {
    for (const auto& row : {line.out_of_place, line.in_place}) {
      if (row) rows.push_back(*row);
    }
    if (speaks) print(arguments.json ? objects_of(line) : table.add(line));
  });
  if (has_table) print(table.finish());
  if (speaks && rows.empty()) {
    std::cerr << group.name() << ": supports none of the calls that are to be measured\n";
  }
  if (speaks && !arguments.plot.empty()) {
    write_file(
        arguments.plot,
        drawing_of(group.name() + ", " + std::to_string(group.world_size()) + " ranks", rows));
  }
  const bool wrong = std::ranges::any_of(rows, [](const Row& row) { return row.errors > 0U; });
  return wrong || rows.empty() ? 1 : 0;
}

int run_program(cxxopts::Options options, int argument_count, char** arguments,
                const MakeGroup& make_group) {
  Arguments wanted;
  const auto complain = [&](const std::exception& error) {
    std::cerr << options.program() << ": " << error.what() << '\n';
    return kUsageError;
  };
  cxxopts::ParseResult given;
  try {
    if (argument_count < 2) throw std::invalid_argument("which collective? See --help");
    const std::string collectives = arguments[1];
    given = options.parse(argument_count - 1, arguments + 1);
    if (collectives == "--help" || given.count("help") != 0) {
      std::cout << options.help() << '\n';
      return 0;
    }
    wanted = arguments_from(collectives, given);
  } catch (const std::exception& error) {
    return complain(error);
  }
  std::unique_ptr<Group> group;
  try {
    group = make_group(given);
  } catch (const std::invalid_argument& error) {
    return complain(error);
  }
  return run_measurement(*group, wanted);
}

}  // namespace rota::bench

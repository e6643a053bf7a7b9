// Tells the two kinds of rows apart.
#include "validate/measured.h"

#include <exception>
#include <istream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "collectives/row.h"
#include "scale/row.h"

namespace rota::bench {
namespace {

using nlohmann::json;

struct MeasuredRow {
  ValidationPoint point;
  std::size_t ranks = 0;
  double seconds = 0;
};

MeasuredRow measured_call(const ValidatedWorld& world, const Row& row) {
  const auto plan = collectives::algorithm_named(row.plan);
  if (!plan) throw std::runtime_error("no plan is '" + row.plan + "'");
  return {.point = {.world = world, .plan = *plan, .bytes = row.work.bytes()},
          .ranks = row.ranks,
          .seconds = row.median_seconds};
}

MeasuredRow measured_training(const ValidatedWorld& world, const ScaleRow& row) {
  return {.point = {.world = world, .model = row.model, .scaling = row.scaling},
          .ranks = row.ranks,
          .seconds = row.step.median};
}

MeasuredRow measured_row_from(const json& line) {
  const ValidatedWorld world{.megabits = line.at("megabits").get<std::size_t>(),
                             .hosts = line.at("hosts").get<std::size_t>(),
                             .ranks_per_host = line.at("ranks_per_host").get<std::size_t>()};
  const std::string text = line.at("row").dump();
  const auto call = parse_row(text);
  MeasuredRow row =
      call ? measured_call(world, *call) : measured_training(world, scale_row_from(text));
  if (row.ranks == world.ranks()) return row;
  throw std::runtime_error("it has " + std::to_string(row.ranks) + " ranks in place of " +
                           std::to_string(world.ranks()));
}

}  // namespace

MeasuredPoints read_measured(std::istream& lines) {
  MeasuredPoints measured;
  for (std::string line; std::getline(lines, line);) {
    try {
      const MeasuredRow row = measured_row_from(json::parse(line));
      measured[row.point].push_back(row.seconds);
    } catch (const std::exception& error) {
      throw std::runtime_error("this line is no measured point: " + line + ": " + error.what());
    }
  }
  return measured;
}

}  // namespace rota::bench

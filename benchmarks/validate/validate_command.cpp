// `rota-bench validate`: holds predictions against measurements.
#include "commands.h"

#include <algorithm>
#include <cxxopts.hpp>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "collectives/sizes.h"
#include "validate/jobs.h"
#include "validate/report.h"

namespace rota::bench {
namespace {

constexpr int kUsageError = 2;

struct ValidateArguments {
  std::vector<ValidationPoint> points;
  ForecastBasis basis;
  bool jobs = false;
};

cxxopts::Options validate_options() {
  cxxopts::Options options(
      "rota-bench validate",
      "Predicts all-reduces and paced training steps on 2 to 8 hosts, from costs that two hosts\n"
      "have measured. Reads measured rows from stdin, and prints tables in Markdown. Ends with 1\n"
      "if the predictions are not good enough.");
  options.add_options()  //
      ("calibrations", "Folder of the files of rota-bench tune --calibration, named MEGABITS-RANKS",
       cxxopts::value<std::string>())  //
      ("points", "The points to validate: whole, short or few",
       cxxopts::value<std::string>()->default_value("whole"))  //
      ("burst", "Bytes that the shaper at a cable lets pass at once",
       cxxopts::value<std::string>())                                           //
      ("jobs", "Print the jobs that measure the points, and do not read rows")  //
      ("help", "Print this help");
  return options;
}

double burst_from(const cxxopts::ParseResult& given) {
  if (given.count("burst") == 0) return 0;
  const std::vector<std::size_t> sizes = parse_sizes(given["burst"].as<std::string>(), "burst");
  if (sizes.size() == 1) return static_cast<double>(sizes.front());
  throw std::invalid_argument("--burst is one size, such as 128K");
}

ValidateArguments validate_arguments_from(const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  if (given.count("calibrations") == 0) {
    throw std::invalid_argument("--calibrations is missing: which folder has the calibrations?");
  }
  ValidateArguments arguments{.points = points_named(given["points"].as<std::string>()),
                              .jobs = given.count("jobs") != 0};
  const auto folder = given["calibrations"].as<std::string>();
  arguments.basis = {.folder = folder,
                     .calibrations = read_calibrations(folder, arguments.points),
                     .machine = this_machine(),
                     .burst_bytes = burst_from(given),
                     .cores = std::max(1U, std::thread::hardware_concurrency())};
  return arguments;
}

// Returns the points that do not take too long to be measured.
std::vector<ValidationPoint> measurable(const ValidateArguments& arguments) {
  std::vector<ValidationPoint> points;
  for (const ValidatedPoint& point : validated(arguments.points, arguments.basis, {})) {
    if (!point.is_too_long()) points.push_back(point.point);
  }
  return points;
}

// Returns empty if --help was given.
std::optional<ValidateArguments> arguments_from(int argument_count, char** arguments) {
  auto options = validate_options();
  const auto given = options.parse(argument_count, arguments);
  if (given.count("help") == 0) return validate_arguments_from(given);
  std::cout << options.help() << '\n';
  return std::nullopt;
}

}  // namespace

int run_validate_command(int argument_count, char** arguments) {
  try {
    const auto given = arguments_from(argument_count, arguments);
    if (!given) return 0;
    if (given->jobs) {
      std::cout << to_text(jobs_of(measurable(*given)));
      return 0;
    }
    const Validation validation = validate(given->points, given->basis, read_measured(std::cin));
    std::cout << to_markdown(validation);
    return validation.holds() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "rota-bench validate: " << error.what() << '\n';
    return kUsageError;
  }
}

}  // namespace rota::bench

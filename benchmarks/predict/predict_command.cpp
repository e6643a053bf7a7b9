// `rota-bench predict`: predicts training steps in worlds that need not exist.
#include "commands.h"

#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include "peak_memory.h"
#include "predict/arguments.h"
#include "predict/lines.h"
#include "predict/measured_workload.h"
#include "predict/published_models.h"
#include "predict/report.h"
#include "predict/workload.h"
#include "predict/worlds.h"
#include "predict/worth.h"

namespace rota::bench {
namespace {

constexpr int kUsageError = 2;

// Returns empty if --help was given.
std::optional<PredictArguments> arguments_from(int argument_count, char** arguments) {
  auto options = predict_options();
  const auto given = options.parse(argument_count, arguments);
  if (given.count("help") == 0) return predict_arguments_from(given);
  std::cout << options.help() << '\n';
  return std::nullopt;
}

Workload workload_of(const PredictArguments& arguments) {
  const std::string& name = arguments.workload;
  if (is_model(name)) return measure_workload(name);
  return is_published(name) ? published_workload(name) : parse_workload(name, text_of_file(name));
}

std::optional<Calibration> calibration_of(const PredictArguments& arguments) {
  if (arguments.calibration.empty()) return std::nullopt;
  return parse_calibration(arguments.calibration, text_of_file(arguments.calibration));
}

// Returns what the user wants to read: a workload, a table or JSON objects.
std::string prediction_of(const PredictArguments& arguments) {
  if (arguments.prints_workload) return to_text(workload_of(arguments));
  const WorldModel costs = costs_of(arguments, calibration_of(arguments));
  if (!arguments.sizes.empty()) {
    const auto calls = predict_calls(arguments, costs);
    return arguments.json ? to_json(calls) : to_text(calls);
  }
  const Workload workload = workload_of(arguments);
  if (arguments.least_efficiency > 0) {
    const Worth worth = worth_of(arguments, workload, costs);
    return arguments.json ? to_json(workload, worth) : to_text(workload, worth);
  }
  const auto worlds = predict_worlds(arguments, workload, costs);
  return arguments.json ? to_json(workload, worlds) : to_text(workload, worlds);
}

// Returns a line about the cost of this process since `begin`.
std::string cost_of(const PredictArguments& arguments,
                    std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const PredictionCost cost{.seconds = passed.count(), .peak_memory_bytes = peak_memory_bytes()};
  return arguments.json ? to_json(cost) : to_text(cost);
}

}  // namespace

int run_predict_command(int argument_count, char** arguments) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    const auto given = arguments_from(argument_count, arguments);
    if (!given) return 0;
    std::string prediction = prediction_of(*given);
    if (given->shows_cost) prediction += cost_of(*given, begin);
    std::cerr << warning_of(shapes_of(*given));
    std::cout << prediction;
  } catch (const std::exception& error) {
    std::cerr << "rota-bench predict: " << error.what() << '\n';
    return kUsageError;
  }
  return 0;
}

}  // namespace rota::bench

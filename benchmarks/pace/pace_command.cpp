// `rota-bench pace`: joins the job, and compares ways to train.
#include <cxxopts.hpp>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <rota/communicator.h>

#include "commands.h"
#include "option_numbers.h"
#include "pace/ways.h"

namespace rota::bench {
namespace {

constexpr int kUsageError = 2;

using Comparison = void (*)(Communicator&, const TrainAndTest&, const PaceArguments&);

constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"checkpoints", compare_checkpoints},
    {"summaries", compare_summaries},
    {"records", compare_records},
};

cxxopts::Options options_of_pace() {
  cxxopts::Options options(
      "rotarun -np RANKS rota-bench pace",
      "Trains the example's mlp for some steps in each of several ways.\n"
      "Prints the images/s of each way in each round, one JSON object per line.");
  options.add_options()                                                                  //
      ("what", "checkpoints, summaries or records", cxxopts::value<std::string>())       //
      ("data", "Folder with the files of MNIST", cxxopts::value<std::string>())          //
      ("folder", "An empty folder for files", cxxopts::value<std::string>())             //
      ("rounds", "Number of rounds", cxxopts::value<std::string>()->default_value("5"))  //
      ("help", "Print this help");
  options.parse_positional("what");
  options.positional_help("WHAT");
  return options;
}

std::string required(const cxxopts::ParseResult& given, const std::string& option) {
  if (given.count(option) == 0) throw std::invalid_argument("--" + option + " is missing");
  return given[option].as<std::string>();
}

Comparison comparison_named(const std::string& what) {
  for (const auto& [name, comparison] : kComparisons) {
    if (name == what) return comparison;
  }
  throw std::invalid_argument("there is nothing named '" + what + "' to compare");
}

struct Wanted {
  Comparison compare;
  std::string data;
  PaceArguments arguments;
};

Wanted wanted_from(const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  return {comparison_named(required(given, "what")),
          required(given, "data"),
          {.folder = required(given, "folder"), .rounds = count_of_option(given, "rounds")}};
}

}  // namespace

int run_pace_command(int argument_count, char** arguments) {
  cxxopts::Options options = options_of_pace();
  Wanted wanted;
  try {
    const auto given = options.parse(argument_count, arguments);
    if (given.count("help") != 0) {
      std::cout << options.help() << '\n';
      return 0;
    }
    wanted = wanted_from(given);
  } catch (const std::exception& error) {
    std::cerr << "rota-bench pace: " << error.what() << '\n';
    return kUsageError;
  }
  const TrainAndTest data = read_idx_folder(wanted.data);
  Communicator communicator(CommunicatorOptions::from_environment());
  wanted.compare(communicator, data, wanted.arguments);
  return 0;
}

}  // namespace rota::bench
